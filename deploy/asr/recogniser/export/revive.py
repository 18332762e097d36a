"""Make a checkpoint of a model folder: `recogniser revive --model ../../services/asr/model/en --run runs/shipped/en`.

So that a further round can begin from the weights that ship (`start_from`), where no earlier run was kept.
They are int8, so the checkpoint is what the recogniser runs, not what was exported.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import lzma
import re
import shutil
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch

from recogniser.export.ctranslate import specification
from recogniser.train.model import Recogniser, Shape
from recogniser.train.tokens import load

TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)
"""By CTranslate2's number for each."""
COMPUTED = "encoder/position_encodings/encodings"


def number(file: BinaryIO, kind: str) -> int:
    """One number of a kind that struct knows."""
    return int(struct.unpack(kind, file.read(struct.calcsize(kind)))[0])


def string(file: BinaryIO) -> str:
    """One string, which is told with its closing zero."""
    return file.read(number(file, "H"))[:-1].decode()


def variables(path: Path) -> dict[str, np.ndarray]:
    """What a model.bin.xz holds, by name, whole numbers divided by their rows' scales."""
    found: dict[str, np.ndarray] = {}
    with lzma.open(path) as file:
        number(file, "I")
        string(file)
        number(file, "I")
        for _ in range(number(file, "I")):
            name = string(file)
            shape = [number(file, "I") for _ in range(number(file, "B"))]
            kind = TYPES[number(file, "B")]
            found[name] = np.frombuffer(file.read(number(file, "I")), kind).reshape(shape)
    for name in [name for name in found if name.endswith("_scale")]:
        whole, scale = found[name.removesuffix("_scale")], found.pop(name)
        found[name.removesuffix("_scale")] = whole / scale.reshape(-1, *[1] * (whole.ndim - 1))
    return found


def shape_of(found: dict[str, np.ndarray], vocabulary: int, stack: int) -> Shape:
    """Sizes of the model that these are of."""
    layers = [
        {m[1] for name in found if (m := re.match(rf"{part}/layer_(\d+)/", name))} for part in ("encoder", "decoder")
    ]
    width = found["decoder/embeddings/weight"].shape[1]
    hidden = len(found["encoder/layer_0/ffn/linear_0/weight"])
    return Shape(vocabulary, width, int(found["encoder/num_heads"]), *map(len, layers), hidden, stack)


def revived(found: dict[str, np.ndarray], shape: Shape) -> Recogniser:
    """The model; every weight goes where `export.specification` takes it from, which numbered ones tell."""
    model = Recogniser(shape).double().requires_grad_(requires_grad=False)  # float32 can't number so many weights
    filled, count = torch.zeros(1 + sum(p.numel() for p in model.parameters())), 1
    for parameter in model.parameters():
        parameter.copy_(torch.arange(count, count + parameter.numel()).reshape(parameter.shape))
        count += parameter.numel()
    numbered = specification(model)
    for name, places in numbered.variables().items():
        if name in found and name != COMPUTED and isinstance(places, torch.Tensor):
            filled[places.long()] = torch.from_numpy(found[name].astype(np.float32))
    for parameter in model.parameters():
        parameter.copy_(filled[parameter.long()])
    model.positions.copy_(torch.from_numpy(found[COMPUTED].copy()))
    return model.float()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    args = parser.parse_args()
    config = json.loads((args.model / "preprocessor_config.json").read_text(encoding="utf-8"))
    found = variables(args.model / "model.bin.xz")
    vocabulary = load(args.model / "tokenizer.json").get_vocab_size()
    model = revived(found, shape_of(found, vocabulary, config["frame_stack"]))
    with np.load(args.model / "ctc.npz") as head:
        model.ctc.weight.copy_(torch.from_numpy(head["weight"].astype(np.float32)))
        model.ctc.bias.copy_(torch.from_numpy(head["bias"].astype(np.float32)))
    args.run.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(args.model / "tokenizer.json", args.run / "tokenizer.json")
    state = model.state_dict()
    torch.save({"shape": dataclasses.asdict(model.shape), "model": state, "average": state}, args.run / "last.pt")
    print(f"{args.run}: {sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters")
