"""What the product loads tells nobody that it was loaded, and leaves no identity of the machine behind."""

import os
import subprocess
import sys
from pathlib import Path

OPENED = """
import app
from services.audio.vad import SileroVad
SileroVad().close()
"""


def test_the_runtime_of_voice_activity_keeps_to_itself(tmp_path: Path) -> None:
    """Also where the environment says otherwise."""
    env = dict(os.environ) | {"HOME": str(tmp_path), "ORT_DISABLE_TELEMETRY": "0"}  # noqa: TID251 - what it tests
    env.pop("XDG_CACHE_HOME", None)
    subprocess.run([sys.executable, "-c", OPENED], env=env, check=True, capture_output=True, timeout=60)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
