"""Checkpoints for tests, with random weights: one of the stock layout, and CTC heads."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np
from ctranslate2.specs import WhisperSpec
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

MODEL_FOLDER: Final = Path(__file__).parents[3] / "services" / "asr" / "model"
WIDTH: Final = 64
PIECES: Final = 50_256
TIME_STAMPS: Final = 1_501
_TASKS: Final = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")


def checkpoint(folder: Path, *, multilingual: bool, pieces: int = PIECES) -> Path:
    """Write the folder: model.bin, config.json, vocabulary, tokenizer.json and preprocessor_config.json."""
    languages = ["<|en|>", "<|zh|>", "<|ja|>", *(f"<|language{n}|>" for n in range(96))]
    special = ["<|endoftext|>", "<|startoftranscript|>", *languages, *(f"<|{t}|>" for t in _TASKS)]
    special += [f"<|{n / 50:.2f}|>" for n in range(TIME_STAMPS)]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    filler = [f"piece{n}" for n in range(pieces - len(alphabet))]
    empty = [""] * multilingual  # the piece that only multilingual checkpoints have: CTranslate2 knows them by it
    vocabulary = [*alphabet, *filler, *empty, *special]
    spec = _spec(len(vocabulary))
    spec.register_vocabulary(vocabulary)
    spec.config.lang_ids = [vocabulary.index(language) for language in languages]
    spec.config.suppress_ids = []
    spec.config.suppress_ids_begin = []
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.optimize(quantization="int8")
    folder.mkdir()
    spec.save(str(folder))
    tokenizer = Tokenizer(models.BPE(vocab={v: k for k, v in enumerate(vocabulary)}, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    front_end = {"feature_size": 80, "sampling_rate": 16_000, "hop_length": 160, "n_fft": 400, "chunk_length": 30}
    (folder / "preprocessor_config.json").write_text(json.dumps(front_end), encoding="utf-8")
    return folder


def ear(folder: Path) -> Path:
    """A CTC head of random weights for the bundled one's pieces, in a language's folder."""
    folder.mkdir()
    shutil.copy(MODEL_FOLDER / folder.name / "tokenizer.json", folder)
    pieces = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    weight = np.random.default_rng(2).normal(0, 0.3, (pieces, WIDTH)).astype(np.float16)
    np.savez(folder / "ctc.npz", weight=weight, bias=np.zeros(pieces, np.float16), blank=pieces - 1)
    return folder


def _spec(vocabulary: int) -> Any:
    """One layer each of encoder and decoder, for 30 s windows."""
    spec = WhisperSpec(1, 1, 1, 1)
    rng = np.random.default_rng(1)

    def draw(*size: int) -> NDArray[np.float32]:
        return rng.normal(0, 0.05, size).astype(np.float32)

    for conv, wide in ((spec.encoder.conv1, 80), (spec.encoder.conv2, WIDTH)):
        conv.weight, conv.bias = draw(WIDTH, wide, 3), draw(WIDTH)
    spec.encoder.position_encodings.encodings = draw(1500, WIDTH)
    spec.decoder.position_encodings.encodings = draw(448, WIDTH)
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = draw(vocabulary, WIDTH)
    for side in (spec.encoder, spec.decoder):
        layer = side.layer[0]
        attentions = [(layer.self_attention, (3, 1))]
        if hasattr(layer, "attention"):
            attentions.append((layer.attention, (1, 2, 1)))
        linears = [
            (linear, n * WIDTH, WIDTH) for a, rows in attentions for linear, n in zip(a.linear, rows, strict=True)
        ]
        linears += [(layer.ffn.linear_0, 4 * WIDTH, WIDTH), (layer.ffn.linear_1, WIDTH, 4 * WIDTH)]
        for linear, rows, columns in linears:
            linear.weight, linear.bias = draw(rows, columns), draw(rows)
        for norm in (side.layer_norm, layer.ffn.layer_norm, *(a.layer_norm for a, _ in attentions)):
            norm.gamma, norm.beta = 1 + draw(WIDTH), draw(WIDTH)
    return spec
