"""Makes a tiny Gemma 4 without weights, for contract tests on two CPU cores: `python -m deploy.vllm.tiny TARGET`.

TARGET gets a configuration of six narrow layers, a byte-level tokenizer trained on this repository's own prompts and
documents, and a chat template in Gemma's form. Nothing is downloaded. Serve it with `--load-format dummy`: its words
are noise; the protocol, the grammar and the cache are real. Needs the `tokenizers` package.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VOCABULARY = 4096
SPECIAL = ("<pad>", "<eos>", "<bos>", "<|turn>", "<turn|>")
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<|turn>{{ 'model' if message.role == 'assistant' else message.role }}\n{{ message.content }}<turn|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)
CONFIG = {
    "architectures": ["Gemma4ForCausalLM"],
    "model_type": "gemma4_text",
    "dtype": "bfloat16",
    "vocab_size": VOCABULARY,
    "vocab_size_per_layer_input": VOCABULARY,
    "pad_token_id": 0,
    "eos_token_id": [1, 4],
    "bos_token_id": 2,
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
    "final_logit_softcapping": 30.0,
    "hidden_activation": "gelu_pytorch_tanh",
    "rms_norm_eps": 1e-06,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "use_double_wide_mlp": False,
    "enable_moe_block": False,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"},
    },
}


def _tokenizer(file: Path) -> None:
    """Byte-level, so that any text round-trips; trained on what it will be asked."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [
        path
        for folder in ("prompts", "demo/knowledge", "answer")
        for path in sorted((ROOT / "rules" / folder).rglob("*.yaml"))
    ]
    tokenizer.train([str(path) for path in texts], trainer)
    tokenizer.save(str(file))


def make(target: Path) -> None:
    """Write TARGET."""
    target.mkdir(parents=True, exist_ok=True)
    _tokenizer(target / "tokenizer.json")
    tokens = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>"}
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": TEMPLATE, "model_max_length": 8192} | tokens
    written = {"config.json": CONFIG, "tokenizer_config.json": about}
    for name, body in written.items():
        (target / name).write_text(json.dumps(body, indent=1), encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
