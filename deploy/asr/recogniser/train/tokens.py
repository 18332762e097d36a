"""The vocabulary: byte-pair pieces for English, single characters for Japanese, and Whisper's special tokens."""

from __future__ import annotations

import re
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

JAPANESE = "[぀-ヿ㐀-鿿々〇]"
# Special tokens come last and <|notimestamps|> is the very last: CTranslate2 takes every id above it for a time stamp.
SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|ja|>",
    "<|transcribe|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)


def train(texts: list[str], pieces: int, path: Path) -> Tokenizer:
    """Learn `pieces` word pieces beside the single characters of Japanese, and save tokenizer.json."""
    pieces += len(set(re.findall(JAPANESE, "".join(texts))))
    tokenizer = Tokenizer(models.BPE())
    isolated = pre_tokenizers.Split(Regex(JAPANESE), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="first"), isolated])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=pieces, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in SPECIAL])
    tokenizer.save(str(path))
    return tokenizer


def load(path: Path) -> Tokenizer:
    """Read tokenizer.json."""
    return Tokenizer.from_file(str(path))
