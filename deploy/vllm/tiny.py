"""Makes a tiny Gemma 4 without weights, for contract tests on two CPU cores.

`python -m deploy.vllm.tiny SOURCE TARGET`: SOURCE holds the configuration, tokenizer and chat template of Gemma 4 E4B;
TARGET gets the same tokenizer and template with six narrow layers. Serve it with `--load-format dummy`: its words are
noise; the protocol, the grammar and the cache are real.
"""

import json
import shutil
import sys
from pathlib import Path

NARROW = {
    "num_hidden_layers": 6,
    "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "global_head_dim": 128,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 16,
    "sliding_window": 512,
    "max_position_embeddings": 8192,
}


def main(source: Path, target: Path) -> None:
    """Write TARGET."""
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.is_file() and file.name != "config.json":
            shutil.copy(file, target / file.name)
    config = json.loads((source / "config.json").read_text(encoding="utf-8")) | NARROW
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
