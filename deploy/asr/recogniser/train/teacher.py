"""What Whisper hears and writes in a long window, for a student with a short one; and the words that both know."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from recogniser.train.sound import POSITION, RATE, Bank, BankedClip, features
from recogniser.train.vocabulary import TASK
from recogniser.train.whisper import Whisper

TEACHER_S = (10, 13)
"""Windows of the teacher: the first where the speech fits with a second to spare."""
MORE = 25
"""Encoder positions behind the speech that are taught."""


@dataclass
class TokenWords:
    """Token ids."""

    tokenizer: Tokenizer
    end: int
    task: int
    plain: dict[str, list[int]]
    own: dict[str, list[int]]

    @classmethod
    def load(cls, path: Path) -> TokenWords:
        """Those of a tokenizer.json."""
        return cls.of(Tokenizer.from_file(str(path)))

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenWords:
        """Those of a tokenizer."""
        one = tokenizer.token_to_id
        task, begin, plain = one(TASK), one("<|startoftranscript|>"), one("<|notimestamps|>")
        langs = {lang: one(f"<|{lang}|>") for lang in ("en", "ja")}
        return cls(
            tokenizer,
            one("<|endoftext|>"),
            task,
            {k: [begin, v, task, plain] for k, v in langs.items()},
            {k: [begin, v, one("<|transcribe|>"), plain] for k, v in langs.items()},
        )

    def ids(self, text: str, lang: str) -> list[int]:
        """Of a transcript in plain words."""
        found: list[int] = self.tokenizer.encode(f" {text}" if lang == "en" else text, add_special_tokens=False).ids
        return found

    def text(self, ids: list[int]) -> str:
        """What ids say."""
        return str(self.tokenizer.decode([i for i in ids if i < self.end])).strip()


class Teacher:
    """The weights as they came, in a long window: what it hears and writes of each clip."""

    def __init__(self, model: Whisper, words: TokenWords, suppressed: Tensor) -> None:
        self.model, self.words, self.suppressed = (
            copy.deepcopy(model).eval().requires_grad_(requires_grad=False),
            words,
            suppressed,
        )
        width = model.embedding.shape[1]
        self.heard = torch.zeros(0, width, dtype=torch.float16, device=model.embedding.device)
        self.hidden = self.heard.clone()

    @torch.inference_mode()
    def take(self, bank: Bank, clips: list[BankedClip], told: set[int], rows: int = 96) -> None:
        """Hear clips; of those whose place is in `told` note what it writes, too."""
        order = sorted(range(len(clips)), key=lambda i: clips[i].length)
        heard, at = [self.heard], len(self.heard)
        hidden, place = [self.hidden], len(self.hidden)
        for first in range(0, len(order), rows):
            batch = order[first : first + rows]
            longest = clips[batch[-1]].length
            seconds = TEACHER_S[longest > (TEACHER_S[0] - 1) * RATE]
            with torch.autocast(bank.device, torch.bfloat16):
                states = self.model.encoder(features(bank.rows([clips[i] for i in batch], seconds * RATE)))
            for row, i in enumerate(batch):
                size = min(states.shape[1], -(-clips[i].length // POSITION) + MORE)
                heard.append(states[row, :size].half())
                clips[i].states = (at, size)
                at += size
            asked = [row for row, i in enumerate(batch) if i in told]
            if asked:
                for row, ids, last in self.write(states[asked], [clips[batch[r]] for r in asked]):
                    clip = clips[batch[asked[row]]]
                    clip.told, clip.hidden = ids, place
                    hidden.append(last)
                    place += len(last)
        self.heard, self.hidden = torch.cat(heard), torch.cat(hidden)

    def write(self, states: Tensor, clips: list[BankedClip]) -> list[tuple[int, list[int], Tensor]]:
        """(row, ids with their end, decoder states of each) where it comes to an end."""
        prompts = torch.tensor([self.words.own[c.lang] for c in clips], device=states.device)
        ids, done = prompts, torch.zeros(len(clips), dtype=torch.bool, device=states.device)
        for step in range(70):
            with torch.autocast(states.device.type, torch.bfloat16):
                last = self.model.states(ids, states)[:, -1] @ self.model.embedding.T
            last = last.float()
            last[:, self.suppressed] = -1e9
            if not step:
                last[:, self.words.end] = -1e9
            new = torch.where(done, self.words.end, last.argmax(-1))
            ids = torch.cat([ids, new[:, None]], 1)
            done |= new == self.words.end
            if bool(done.all()):
                break
        with torch.autocast(states.device.type, torch.bfloat16):
            full = self.model.states(ids, states).half()
        found = []
        for row, clip in enumerate(clips):
            own = ids[row, 4:].tolist()
            most = 9 * clip.length / RATE + 10
            if self.words.end in own and own.index(self.words.end) < most:
                size = own.index(self.words.end) + 1
                found.append((row, own[:size], full[row, 3 : 3 + size]))
        return found
