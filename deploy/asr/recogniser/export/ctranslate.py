"""Write a CTranslate2 model folder: `recogniser export --run runs/en --out ../../services/asr/model/en`.

The folder holds model.bin.xz (int8), vocabulary.json, config.json, tokenizer.json, preprocessor_config.json, and
ctc.npz: the CTC head on the encoder (float16), which the recogniser uses to rescore what the decoder proposes.
Checkpoints from earlier in the training may be mixed in (`--mix RUN SHARE`), also ones with fewer encoder layers: the
mixture hears voices better that were not trained on.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from ctranslate2.specs import common_spec, transformer_spec, whisper_spec
from tokenizers import Tokenizer
from torch import nn

from recogniser.export.coarse import WHOLE, coarsen
from recogniser.train.model import Attention, Recogniser, Shape, TransformerBlock, deepened, weights
from recogniser.train.tokens import SPECIAL, load


def linear(spec: common_spec.LinearSpec, *layers: nn.Linear) -> None:
    """One fused projection; a missing bias is zero."""
    spec.weight = torch.cat([layer.weight for layer in layers])
    spec.bias = torch.cat([torch.zeros(layer.out_features) if layer.bias is None else layer.bias for layer in layers])


def norm(spec: common_spec.LayerNormSpec, layer: nn.LayerNorm) -> None:
    """Gain and bias of a layer normalisation."""
    spec.gamma, spec.beta = layer.weight, layer.bias


def attention(spec: transformer_spec.attention_spec.MultiHeadAttentionSpec, layer: Attention, cross: bool) -> None:
    """Self-attention fuses query, key and value; cross-attention keeps the query apart."""
    if cross:
        linear(spec.linear[0], layer.q)
        linear(spec.linear[1], layer.k, layer.v)
    else:
        linear(spec.linear[0], layer.q, layer.k, layer.v)
    linear(spec.linear[-1], layer.out)


def block(spec: transformer_spec.TransformerEncoderLayerSpec, layer: TransformerBlock) -> None:
    """One transformer layer."""
    attention(spec.self_attention, layer.attention, cross=False)
    norm(spec.self_attention.layer_norm, layer.attention_norm)
    if layer.cross is not None and layer.cross_norm is not None:
        attention(spec.attention, layer.cross, cross=True)
        norm(spec.attention.layer_norm, layer.cross_norm)
    linear(spec.ffn.linear_0, layer.up)
    linear(spec.ffn.linear_1, layer.down)
    norm(spec.ffn.layer_norm, layer.ffn_norm)


def specification(model: Recogniser) -> whisper_spec.WhisperSpec:
    """The model as CTranslate2's Whisper."""
    shape = model.shape
    spec = whisper_spec.WhisperSpec(shape.encoder_layers, shape.heads, shape.decoder_layers, shape.heads)
    for name in ("conv1", "conv2"):
        conv = getattr(model, name)
        getattr(spec.encoder, name).weight, getattr(spec.encoder, name).bias = conv.weight, conv.bias
    spec.encoder.position_encodings.encodings = model.positions
    norm(spec.encoder.layer_norm, model.encoder_norm)
    for layer_spec, layer in zip(spec.encoder.layer, model.encoder, strict=True):
        block(layer_spec, layer)
    spec.decoder.embeddings.weight = model.embedding.weight
    spec.decoder.position_encodings.encodings = model.token_positions
    norm(spec.decoder.layer_norm, model.decoder_norm)
    for layer_spec, layer in zip(spec.decoder.layer, model.decoder, strict=True):
        block(layer_spec, layer)
    spec.decoder.projection.weight = model.embedding.weight
    return spec


def configured(spec: whisper_spec.WhisperSpec, shape: Shape, tokenizer: Tokenizer) -> None:
    """Give it its vocabulary, languages, tokens that are never written, and heads to align by."""
    spec.register_vocabulary([tokenizer.id_to_token(i) for i in range(shape.vocabulary)])
    spec.config.lang_ids = [tokenizer.token_to_id(f"<|{lang}|>") for lang in ("en", "ja")]
    spec.config.suppress_ids = [tokenizer.token_to_id(t) for t in SPECIAL if t != "<|endoftext|>"]
    spec.config.suppress_ids_begin = []
    last = shape.decoder_layers - 1
    spec.config.alignment_heads = [(last, head) for head in range(shape.heads)]


def mixed(run: Path, use: str, others: list[tuple[Path, float]]) -> tuple[Shape, dict[str, torch.Tensor]]:
    """Shape and weights of a run, of which the shares of other runs are taken that have no more encoder layers."""
    shape, state = weights(run, use)
    rest = 1 - sum(share for _, share in others)
    mixture = {name: rest * value for name, value in state.items()}
    for other, share in others:
        other_shape, added = weights(other, use)
        if replace(other_shape, encoder_layers=shape.encoder_layers) != shape:
            raise SystemExit(f"{other} has another shape than {run}")
        added = deepened(added, shape.encoder_layers)
        mixture = {name: value + share * added[name] for name, value in mixture.items()}
    return shape, mixture


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--use", choices=("average", "model"), default="average")
    parser.add_argument("--mix", nargs=2, action="append", default=[], metavar=("RUN", "SHARE"))
    parser.add_argument("--langs", default="en,ja")
    parser.add_argument("--levels", type=int, default=WHOLE, help="of a weight; the file takes less with fewer")
    args = parser.parse_args()
    shape, state = mixed(args.run, args.use, [(Path(run), float(share)) for run, share in args.mix])
    model = Recogniser(shape).eval().requires_grad_(requires_grad=False)
    model.load_state_dict(state)
    tokenizer = load(args.run / "tokenizer.json")
    spec = specification(model)
    configured(spec, shape, tokenizer)
    spec.validate()
    coarsen(spec, args.levels)
    spec.optimize(quantization="int8")
    args.out.mkdir(parents=True, exist_ok=True)
    spec.save(str(args.out))
    whole = args.out / "model.bin"
    (args.out / "model.bin.xz").write_bytes(lzma.compress(whole.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    whole.unlink()
    shutil.copyfile(args.run / "tokenizer.json", args.out / "tokenizer.json")
    front_end = {
        "feature_size": shape.mels, "sampling_rate": 16000, "hop_length": 160, "n_fft": 400, "chunk_length": 30,
        "frame_stack": shape.stack, "languages": args.langs.split(","),
    }  # fmt: skip
    (args.out / "preprocessor_config.json").write_text(json.dumps(front_end, indent=2) + "\n", encoding="utf-8")
    blank = tokenizer.token_to_id("<|notimestamps|>")
    np.savez(
        args.out / "ctc.npz",
        weight=model.ctc.weight.numpy().astype(np.float16),
        bias=model.ctc.bias.numpy().astype(np.float16),
        blank=blank,
    )
    size = sum(p.stat().st_size for p in args.out.iterdir())
    print(f"{args.out}: {size / 1e6:.1f} MB")
