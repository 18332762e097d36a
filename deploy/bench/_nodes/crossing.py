"""The same finals by a recogniser of this process and by one behind Ray, turn about."""

import asyncio
import time
from typing import Final

from app.qa.figures import Figure
from deploy.reporting import percentile
from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import EN_US
from schemas.transcript import Decode
from services.ports import Recognizer

FINALS: Final = 120
SECONDS: Final = 2


def crossing() -> dict[str, Figure]:
    """What is waited for a decode beside the decode itself, milliseconds."""
    from app.cluster.deployments import RECOGNIZER, Recognizers, handle_of, recognizers
    from app.cluster.recognizer import HandleRecognizer
    from app.cluster.start import cluster, deploy
    from deploy.bench._calls.corpus import load, utterances
    from services.asr import load as recogniser

    said = next(one.samples for one in utterances(load(), "simple") if one.samples.size >= SECONDS * SAMPLE_RATE)
    with asyncio.Runner() as runner, cluster(cpus=1):  # a handle's loop outlives Serve
        deploy(RECOGNIZER, recognizers(Recognizers(asr_workers=1)))

        async def run() -> dict[str, Figure]:
            here, there = recogniser(workers=1), HandleRecognizer(handle_of(RECOGNIZER))
            await here.warm_up()
            await there.warm_up()
            found = await _by_turns(here, there, said[: SECONDS * SAMPLE_RATE])
            await asyncio.gather(here.close(), there.close())
            return found

        return runner.run(run())


async def _by_turns(here: Recognizer, there: Recognizer, said: Samples) -> dict[str, Figure]:
    beside: dict[str, list[float]] = {"one_process": [], "on_ray": []}
    for _ in range(FINALS):
        for name, recognizer in zip(beside, (here, there), strict=True):
            began = time.monotonic()
            heard = await recognizer.transcribe(said, EN_US, Decode.FINAL)
            beside[name].append(1000 * (time.monotonic() - began) - heard.decode_ms)
    return {f"beside_a_decode_{name}_p{q}_ms": percentile(each, q) for name, each in beside.items() for q in (50, 95)}
