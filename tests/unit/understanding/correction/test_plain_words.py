from schemas.intent import Intent, Understood
from services.understanding.correction.plain_words import Rewordings

HEARD = Understood(Intent.HELP)


def test_no_text_is_read_in_its_own_place() -> None:
    put = Rewordings()
    assert put.read(lambda _: put.read(lambda _: put.read(lambda _: HEARD, "a"), "b"), "a") == Understood(None)
    assert put.read(lambda _: HEARD, "a") == HEARD


def test_texts_that_grow_for_ever_are_read_to_some_depth() -> None:
    put, read = Rewordings(), list[str]()

    def longer(text: str) -> Understood:
        read.append(text)
        return put.read(longer, f"{text}a")

    assert longer("") == Understood(None)
    assert read == ["", "a", "aa", "aaa", "aaaa"]
