"""Which part of a partial can be shown as settled."""


def stable_prefix(before: str, now: str) -> int:
    """Characters of `now` that it shares with the partial `before`, cut back to a whole word where words are spaced."""
    shared = 0
    for a, b in zip(before, now, strict=False):
        if a != b:
            break
        shared += 1
    ends_a_word = shared in {len(before), len(now)} and now[shared : shared + 1] in {"", " "}
    if ends_a_word or " " not in now:
        return shared
    return now.rfind(" ", 0, shared) + 1
