"""How well what is fine-tuned hears while it trains: greedy plain words, windowed as the service windows them."""

from __future__ import annotations

import torch
from torch import Tensor

from recogniser.train.sound import RATE, Bank, BankedClip, features, telephone, window
from recogniser.train.teacher import TokenWords
from recogniser.train.whisper import Whisper


def stretches(clip: BankedClip) -> list[BankedClip]:
    """Three seconds each of a noise that is kept for tests."""
    starts = range(clip.start, clip.start + max(1, clip.length - 3 * RATE + 1), 3 * RATE)
    return [
        BankedClip(at, min(clip.length, 3 * RATE), "", lang, "test:noise") for at in starts for lang in ("en", "ja")
    ]


class WindowedListener:
    """Greedy plain words of clips, as the service windows them."""

    def __init__(self, model: Whisper, words: TokenWords, bank: Bank) -> None:
        self.model, self.words, self.bank = model, words, bank

    @torch.inference_mode()
    def hear(self, clips: list[BankedClip], *, by_phone: bool, by_ear: bool = False, rows: int = 48) -> list[str]:
        """A transcript of each."""
        found = [""] * len(clips)
        order = sorted(range(len(clips)), key=lambda i: clips[i].length)
        for first in range(0, len(order), rows):
            batch = order[first : first + rows]
            samples = window(clips[batch[-1]].length, 0.5)
            sound = self.bank.rows([clips[i] for i in batch], samples)
            if by_phone:
                generator = torch.Generator(device=sound.device).manual_seed(first)
                level = sound.std(1, keepdim=True) * 10 ** (-15 / 20)
                sound = telephone(sound + level * torch.randn(sound.shape, generator=generator, device=sound.device))
            with torch.autocast(sound.device.type, torch.bfloat16):
                states = self.model.encoder(features(sound))
            langs = [clips[i].lang for i in batch]
            if by_ear:
                self.by_ear(states, langs, batch, found)
                continue
            for i, ids in zip(batch, self.written(states, langs), strict=True):
                found[i] = self.words.text(ids)
        return found

    def by_ear(self, states: Tensor, langs: list[str], batch: list[int], found: list[str]) -> None:
        """What the CTC heads hear, into the places of `found` that `batch` names."""
        assert self.model.ears is not None
        for lang in set(langs):
            rows = [row for row, of in enumerate(langs) if of == lang]
            for row, text in zip(rows, self.model.ears.greedy(states[rows], lang), strict=True):
                found[batch[row]] = text

    def written(self, states: Tensor, langs: list[str]) -> list[list[int]]:
        """Greedy ids."""
        ids = torch.tensor([self.words.plain[lang] for lang in langs], device=states.device)
        done = torch.zeros(len(langs), dtype=torch.bool, device=states.device)
        for _ in range(50):
            with torch.autocast(states.device.type, torch.bfloat16):
                last = self.model.states(ids, states)[:, -1] @ self.model.embedding.T
            new = torch.where(done, self.words.end, last.float().argmax(-1))
            ids = torch.cat([ids, new[:, None]], 1)
            done |= new == self.words.end
            if bool(done.all()):
                break
        return [row[4:] for row in ids.tolist()]


def distance(a: list[str], b: list[str]) -> int:
    """Edits between two lists."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def score(listener: WindowedListener, tests: list[BankedClip]) -> str:
    """Error rates by kind: clean, by telephone, and clean by the CTC heads alone."""
    out = []
    for by_phone, by_ear in ((False, False), (True, False), (False, True)):
        wrong: dict[str, list[int]] = {}
        for clip, text in zip(tests, listener.hear(tests, by_phone=by_phone, by_ear=by_ear), strict=True):
            units = (
                (clip.text.split(), text.split())
                if clip.lang == "en"
                else (list(clip.text), list(text.replace(" ", "")))
            )
            kind = clip.kind.split(":")[1].split("|")[0]
            kind = {"commonvoice1_en": "cv", "commonvoice61_en": "cv", "commonvoice61_ja": "cvja"}.get(kind, kind)
            tally = wrong.setdefault(kind, [0, 0])
            tally[0] += distance(*units)
            tally[1] += len(units[0])
        out.append(" ".join(f"{k} {a / max(1, n):.3f}" for k, (a, n) in sorted(wrong.items())))
    return f"clean {out[0]} | phone {out[1]} | ear {out[2]}"
