"""How likely the other hypotheses of an utterance are beside the best."""

from collections.abc import Iterator

from schemas.transcript import Hypothesis, Transcript


def behind(transcript: Transcript, tokens_a_character: float) -> Iterator[tuple[str, float]]:
    """The other hypotheses, and the natural-log odds of the best against each: of whole sentences, or token by token.

    The lesser counts: a longer sentence has the lesser odds as a whole, however surely each of its words was heard.
    """

    def tokens(hypothesis: Hypothesis) -> float:
        return 1 + len(hypothesis.text) * tokens_a_character

    best, *others = transcript.hypotheses or (Hypothesis("", 0.0),)
    for other in others:
        whole = best.avg_logprob * tokens(best) - other.avg_logprob * tokens(other)
        yield other.text, min(whole, (best.avg_logprob - other.avg_logprob) * tokens(best))
