"""What one utterance is taken to be: the second value on its way from transcript to decision."""

from dataclasses import dataclass, field

from schemas.intent import Annotation, Understood


@dataclass(frozen=True, slots=True)
class Interpretation(Annotation):
    """An utterance with its spans, its payees and what it means; by itself, words of which nothing is known yet."""

    understood: Understood = field(default_factory=lambda: Understood(None))
    binding: bool = False
    """Whether it would lead to what can't be undone, if the words were all and were taken now."""
    leads_in: bool = False
    """Whether it is a yes or no of which nothing would come: none was asked for, and more words are likely."""
