"""The recogniser's other hypotheses: amounts that they contest, sentences that they make."""
