"""The decoder's chance of no speech counts where nobody else testifies; a CTC head that heard somebody settles it."""

import numpy as np
import pytest

from schemas.ids import EN_US
from schemas.transcript import Decode, Hypothesis
from services.asr.decoder import Decoded, Witness
from services.asr.recognizer import WhisperRecognizer
from services.asr.scheduler import DecodeScheduler

SURE = Witness(joint_logprob=-0.01, surest=1.0, over_silence=9.0, unwritten=0.0)


@pytest.mark.parametrize(("witness", "left"), [(SURE, 0.0), (None, 0.38)])
async def test_a_clear_yes_keeps_the_doubt_of_short_words_only_without_a_witness(
    witness: Witness | None, left: float
) -> None:
    class Yes:
        def decode(self, *_: object, **__: object) -> Decoded:
            return Decoded((Hypothesis("yes", -0.02),), 0.38, witness)

    recognizer = WhisperRecognizer({"en": Yes()}, DecodeScheduler(1, 4))
    sound = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    said = await recognizer.transcribe(sound, EN_US, Decode.FINAL)
    await recognizer.close()
    assert (said.text, said.no_speech_prob) == ("yes", left)
