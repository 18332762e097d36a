"""Record the demonstration's calls: `python -m deploy.corpus.demo VOICES`, the folder of .htsvoice files."""

import sys
from pathlib import Path

import yaml

from deploy.corpus.make import encode, speak

CALLS = Path(__file__).parents[2] / "app" / "demo" / "calls"


def main(voices: Path) -> None:
    """Speak every utterance of calls.yaml anew."""
    for call in yaml.load((CALLS / "calls.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["calls"]:
        for turn in call["turns"]:
            encode(speak(turn["voice"], turn.get("speak", turn["words"]), voices), CALLS / turn["audio"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
