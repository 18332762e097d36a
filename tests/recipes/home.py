"""Rules changed by data alone: a copy of the package stands first on the path of a child process, which plays calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAY = """
import sys
from pathlib import Path
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from deploy.bench.cases.conversations import conversations
played = PlayTally()
for file in conversations(Path(sys.argv[1])):
    player = ConversationPlayer.of(file.customer)
    for conversation in file.conversations:
        player.play(conversation, played)
print(f"{played.turns} turns", *played.failures, sep="\\n")
"""


def rules_copied(home: Path) -> Path:
    """The folder, with a copy of the rules in it that may be changed."""
    shutil.copytree(ROOT / "rules", home / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    return home


def play(home: Path, conversations: Path) -> list[str]:
    """How many turns were played by the rules of `home`, and what did not come out as written."""
    environment = dict(os.environ) | {"PYTHONPATH": f"{home}{os.pathsep}{ROOT}"}  # noqa: TID251 - for the child
    command = [sys.executable, "-c", PLAY, str(conversations)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
