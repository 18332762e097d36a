"""How likely the other hypotheses of an utterance are beside the best."""

from collections.abc import Iterator
from typing import NamedTuple

from schemas.transcript import Hypothesis, Transcript


class Rival(NamedTuple):
    """Another hypothesis, and the natural-log odds of the best against it: token by token, and of whole sentences."""

    text: str
    by_token: float
    whole: float


def rivals(transcript: Transcript, tokens_a_character: float, end: int = 1) -> Iterator[Rival]:
    """The other hypotheses. Tokens are told by a sentence's length, beside those of its `end`.

    A longer sentence has the lesser odds as a whole, however surely each of its words was heard.
    """

    def tokens(hypothesis: Hypothesis) -> float:
        return end + len(hypothesis.text) * tokens_a_character

    best, *others = transcript.hypotheses or (Hypothesis("", 0.0),)
    for other in others:
        whole = best.avg_logprob * tokens(best) - other.avg_logprob * tokens(other)
        yield Rival(other.text, (best.avg_logprob - other.avg_logprob) * tokens(best), whole)
