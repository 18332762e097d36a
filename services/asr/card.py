"""A card that a recogniser may run on: whether it is there with what CTranslate2 loads for it, and results from it."""

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import ctranslate2
import numpy as np

from schemas.errors import RecognizerUnavailable
from services.asr.ctc import Floats

CARD: Final = "cuda"
LIBRARIES: Final = ("libcublasLt.so.12", "libcublas.so.12")
"""Of CUDA's for matrices, the second needs the first; CTranslate2 looks for the second by this very name."""
_PACKAGE: Final = "nvidia.cublas"


def require(device: str) -> None:
    """Load what decodes on `device` need. Raises RecognizerUnavailable, which says what is missing."""
    if device != CARD:
        return
    if ctranslate2.get_cuda_device_count() == 0:
        raise RecognizerUnavailable("CUDA sees no card on this machine")
    for library in LIBRARIES:
        try:
            ctypes.CDLL(str(_brought(library)), ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise RecognizerUnavailable(f"{library} is missing: `make cuda` installs it") from error


def on_host(view: ctranslate2.StorageView) -> Floats:
    """What a decoder gave, in float32 and in this machine's memory."""
    near = view if view.device == "cpu" else view.to_device(ctranslate2.Device.cpu)
    return np.asarray(near).astype(np.float32, copy=False)


def _brought(library: str) -> Path:
    """Where NVIDIA's package laid a library; its bare name, for the system to find, where there is none."""
    spec = find_spec(_PACKAGE) if find_spec(_PACKAGE.partition(".")[0]) else None
    laid = [Path(folder) / "lib" / library for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((path for path in laid if path.is_file()), Path(library))
