"""Distorted batches a few ahead: a second thread makes them on a stream of its own while the trainer trains.

A step of so small a model is a thousand small operations, so the host is what it waits for; PyTorch lets go of Python's
lock in each, and two threads pass on nearly twice as many.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from queue import Queue

import torch
from torch import Tensor

from recogniser.train.batches import TaughtBatch

DEPTH = 3


class Ahead:
    """Iterates over batches that a generator makes; `still` keeps its thread from the device for a moment."""

    def __init__(self, made: Iterator[TaughtBatch], device: str) -> None:
        self.made = made
        self.still = threading.Lock()
        self.ready: Queue[tuple[TaughtBatch, torch.cuda.Event | None] | BaseException] = Queue(DEPTH)
        self.stream = torch.cuda.Stream(device) if device.startswith("cuda") else None
        if self.stream:
            self.stream.wait_stream(torch.cuda.current_stream())  # for the sound that is on its way
        self.over = False
        self.thread = threading.Thread(target=self._make, daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Make no more; returns when the thread is gone, for one that works while Python ends takes it down."""
        self.over = True
        while self.thread.is_alive():
            while not self.ready.empty():
                self.ready.get()
            self.thread.join(0.05)

    def _make(self) -> None:
        try:
            while not self.over:
                with self.still:
                    one = self._next()
                self.ready.put(one)
        except BaseException as error:  # noqa: BLE001  # the trainer raises it
            self.ready.put(error)

    def _next(self) -> tuple[TaughtBatch, torch.cuda.Event | None]:
        with torch.cuda.stream(self.stream) if self.stream else nullcontext(), torch.no_grad():
            made = next(self.made)
            return made, self.stream.record_event() if self.stream else None

    def __iter__(self) -> Iterator[TaughtBatch]:
        """Batches without end; raises what stopped their making."""
        while True:
            one = self.ready.get()
            if isinstance(one, BaseException):
                raise one
            made, done = one
            if done is not None:
                take(made, done)
            yield made


def take(made: TaughtBatch, done: torch.cuda.Event) -> None:
    """Let the trainer's stream wait for a batch, and keep its memory until that stream has used it."""
    here = torch.cuda.current_stream()
    here.wait_event(done)
    for tensor in vars(made).values():
        if isinstance(tensor, Tensor) and tensor.is_cuda:
            tensor.record_stream(here)
