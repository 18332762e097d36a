"""When eSpeak would say each phone of a text, and how high: its rules of timing and tune, without its sound."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from recogniser.texts import phonemes
from recogniser.voices.segment import PAUSE, Phone

HOP_MS = 5.0
LEAD_S = 0.06
"""Quiet before the first phone."""
_SYNCHRONOUS, _UTF8, _TELL_PHONES, _PHONE_EVENT = 2, 1, 1, 7
_RATE, _PITCH, _RANGE = 1, 3, 4
"""eSpeak's parameters."""
VOICED_HZ = 40.0


@dataclass(frozen=True)
class Told:
    """Phones in flite's names, one behind the other, and the pitch of each 5 ms in Hz, also where nothing is voiced."""

    phones: Sequence[Phone]
    pitch: np.ndarray


class _Name(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("address", ctypes.c_char_p), ("letters", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int), ("message", ctypes.c_uint), ("place", ctypes.c_int), ("length", ctypes.c_int),
        ("at_ms", ctypes.c_int), ("sample", ctypes.c_int), ("user", ctypes.c_void_p), ("name", _Name),
    )  # fmt: skip


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class ESpeak:
    """The library, one in a process; `told` is what the last text brought."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.library.espeak_Initialize(_SYNCHRONOUS, 0, None, _TELL_PHONES)
        self.sound: list[bytes] = []
        self.begun: list[tuple[int, str]] = []
        self.listener = _CALLBACK(self._take)  # kept, or it is collected
        self.library.espeak_SetSynthCallback(self.listener)

    def say(self, text: str, accent: str, **settings: int) -> tuple[np.ndarray, list[tuple[int, str]]]:
        """float64 sound, and (first sample, eSpeak's name) of each phone; ValueError for an unknown accent."""
        if self.library.espeak_SetVoiceByName(accent.encode()) != 0:
            raise ValueError(f"eSpeak has no {accent}")
        for name, value in settings.items():
            self.library.espeak_SetParameter({"rate": _RATE, "pitch": _PITCH, "range": _RANGE}[name], value, 0)
        self.sound, self.begun = [], []
        spoken = text.encode()
        self.library.espeak_Synth(spoken, len(spoken) + 1, 0, 1, 0, _UTF8, None, None)
        return np.frombuffer(b"".join(self.sound), np.int16).astype(np.float64), self.begun

    def _take(self, wave: ctypes._Pointer[ctypes.c_short], count: int, events: ctypes._Pointer[_Event]) -> int:
        if wave and count:
            self.sound.append(ctypes.string_at(wave, 2 * count))
        at = 0
        while events[at].kind:
            if events[at].kind == _PHONE_EVENT:
                self.begun.append((events[at].sample, events[at].name.letters.decode()))
            at += 1
        return 0


@cache
def espeak() -> ESpeak:
    """The library, begun."""
    return ESpeak()


def told(text: str, accent: str, rng: random.Random) -> Told:
    """Somebody's way of saying a text; KeyError for a sound that flite does not name, ValueError for no sound."""
    import pyworld

    library = espeak()
    sound, begun = library.say(
        text, accent, rate=rng.randint(125, 205), pitch=rng.randint(35, 65), range=rng.choice((10, 30, 50, 50, 70))
    )
    if not begun:
        raise ValueError(f"eSpeak says nothing for {text!r}")
    pitch, times = pyworld.dio(sound, library.rate, frame_period=HOP_MS)
    voiced = pitch > VOICED_HZ
    if not voiced.any():
        raise ValueError(f"nothing is voiced in {text!r}")
    octaves = np.interp(times, times[voiced], np.log2(pitch[voiced]))
    lead = np.full(round(1000 * LEAD_S / HOP_MS), octaves[0])
    return Told(_phones(begun, len(sound), library.rate), 2 ** np.concatenate([lead, octaves]))


def _phones(begun: Sequence[tuple[int, str]], end: int, rate: int) -> list[Phone]:
    """Each of eSpeak's in flite's names, which share its time; alike ones in turn are one."""
    phones = [Phone(PAUSE, 0.0, LEAD_S)]
    for (first, name), (last, _) in pairwise([*begun, (end, "")]):
        names = (PAUSE,) if name.startswith("_") else phonemes.named(name.strip(phonemes.MARKS)) or (phones[-1].name,)
        ends = np.linspace(first, last, len(names) + 1)[1:] / rate + LEAD_S
        for flite, until in zip(names, ends.tolist(), strict=True):
            begin = phones.pop().begin if phones[-1].name == flite else phones[-1].end
            phones.append(Phone(flite, begin, until))
    if phones[-1].name != PAUSE:
        phones.append(Phone(PAUSE, phones[-1].end, phones[-1].end + LEAD_S))
    return phones
