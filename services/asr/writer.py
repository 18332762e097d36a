"""The decoder of one language: it proposes transcripts, and says how likely it finds others."""

from collections.abc import Mapping, Sequence

import ctranslate2
from tokenizers import Tokenizer

from services.asr.decoder import BEAM, max_length
from services.asr.forced import Forced
from services.asr.narrowed import OwnTokens


class Writer:
    """Writes by what was heard, (1, positions, width), in the tokens of `written`, which are all that `model` has.

    `marks` are the ids in the whole vocabulary of what is no part of a word; `prompt` and `end`, ids there too, begin
    and end a transcript.
    """

    def __init__(
        self,
        model: ctranslate2.models.Whisper,
        tokenizer: Tokenizer,
        written: OwnTokens,
        prompt: Sequence[int],
        end: int,
        marks: Mapping[str, int],
    ) -> None:
        self._model, self._tokenizer, self._written = model, tokenizer, written
        self._prompt = [written.own[i] for i in prompt]
        self._never = sorted(written.own[i] for i in marks.values() if i != end)
        self._forced = Forced(model, self._prompt, written.own[end], self._never)

    def ids(self, text: str) -> list[int] | None:
        """A transcript in its tokens; None where they can't spell it."""
        return self._written.ids(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def proposed(self, encoded: ctranslate2.StorageView, limit: int) -> tuple[list[tuple[str, float]], float]:
        """Its transcripts of at most `limit` tokens, each with its natural-log probability, and that of no speech."""
        result = self._model.generate(
            encoded,
            [self._prompt],
            beam_size=BEAM,
            num_hypotheses=BEAM,
            length_penalty=0,
            max_length=max_length(limit, len(self._prompt)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=False,
            suppress_tokens=self._never,
        )[0]
        texts = (str(self._tokenizer.decode([self._written.whole[i] for i in ids])) for ids in result.sequences_ids)
        return list(zip(texts, map(float, result.scores), strict=True)), float(result.no_speech_prob)

    def told(self, candidates: Sequence[Sequence[int]], encoded: ctranslate2.StorageView) -> list[float]:
        """The natural-log probability of transcripts in its tokens, their end among it."""
        return self._forced.told(candidates, encoded)
