"""How festival is told what to say: plain text, or words in phones, which become entries of the voice's lexicon."""

from __future__ import annotations

import re

OWN_LEXICON = """(define (setup_oald_lex)
  (lex.create "oald") (lex.set.phoneset "mrpa") (lex.set.lts.method 'Error) (lex.add.entry '("," punc nil)))"""
"""Instead of the lexicon that don_diphone asks for, which is not free."""

_WORD = re.compile(r"[^\s,]+")


def command(voice: str, text: str, out: str, rate: float, *, in_phones: bool) -> tuple[list[str], str]:
    """text2wave's arguments and what it reads; a text in phones is of words as `foreign.in_syllables` writes them."""
    words = dict.fromkeys(_WORD.findall(text)) if in_phones else {}
    names = {word: "q" + chr(97 + k // 26) + chr(97 + k % 26) for k, word in enumerate(words)}
    orders = [
        OWN_LEXICON,
        f"(voice_{voice})",
        f"(Parameter.set 'Duration_Stretch {1 / rate:.2f})",
        *(f'(lex.add.entry (quote ("{name}" nil {entry(word)})))' for word, name in names.items()),
    ]
    evaluated = [part for order in orders for part in ("-eval", order)]
    return ["text2wave", *evaluated, "-o", out], _WORD.sub(lambda found: names.get(found[0], found[0]), text)


def entry(word: str) -> str:
    """A word's syllables for a lexicon, all of them with stress: (((f ai v) 1) ((t ii n) 1)) of f_ai_v-t_ii_n."""
    return "(" + " ".join(f"(({syllable.replace('_', ' ')}) 1)" for syllable in word.split("-")) + ")"
