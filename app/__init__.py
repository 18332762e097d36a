"""The process: the only place that knows FastAPI, settings and the composition of the parts."""

import os

# The numeric libraries read these when they load. One thread a decode: more make short windows three times as dear.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # noqa: TID251 - not a setting of ours
