"""Where the bank does not know the payee's account by that name, only words that name the deed are a yes."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import ConversationPlayer, PlayedCall, PlayTally
from schemas.banking import PayeeVerification
from schemas.decision import Clarify, Confirm, Decision, Execute, Handoff, Reply, SubmitTransfer
from schemas.ids import RuleId

CALLERS = {
    "en": ("alex-morgan", "send fifty dollars to Emily Morgan from checking"),
    "ja": ("takahashi-misaki", "普通口座から佐藤花子さんに五千円送って"),
}
NAMED = {
    "en": (
        "send it", "yes, send it", "please send it", "send it anyway", "yes please transfer it", "go ahead and send it",
        "send the money", "okay send it please", "yes, send it anyway please", "make the transfer",
    ),
    "ja": (
        "振り込む", "振り込んでください", "はい、振り込んでください", "それでも振り込みます", "振り込む、お願いします",
        "送ってください", "はい、それでも送ってください", "送金してください", "それでも振り込む",
        "振り込みをお願いします",
    ),
}  # fmt: skip
BARE = {
    "en": ("yes", "yes please", "yeah that's right", "okay", "sure", "correct", "yep go ahead", "that's fine, thanks",
           "thank you"),
    "ja": (
        "はい", "はい、お願いします", "お願いします", "ええ", "そうです", "大丈夫です",
        "はい、そのとおりです", "結構です", "ありがとうございます",
    ),
}  # fmt: skip
OTHER = {
    "en": ("no", "don't send it", "cancel", "send it to Ann instead", "yes but not now", "who is it then", "stop"),
    "ja": ("いいえ", "振り込まないで", "やめます", "振り込むのはやめて", "振り込みますか", "誰の名義ですか", "待って"),
}  # fmt: skip


def read_back(language: str) -> PlayedCall:
    customer, order = CALLERS[language]
    call = ConversationPlayer.of(customer).call(PlayTally())
    _, made = call.play(Turn(say=order, verification=PayeeVerification.NO_MATCH))
    assert isinstance(made[-1], Confirm)
    return call


def answer(call: PlayedCall, said: str) -> list[Decision]:
    return call.play(Turn(say=said, verification=PayeeVerification.NO_MATCH))[1]


def submits(made: list[Decision]) -> bool:
    return any(isinstance(each, Execute) and isinstance(each.action, SubmitTransfer) for each in made)


@pytest.mark.parametrize(("language", "said"), [(lang, words) for lang, all_of in NAMED.items() for words in all_of])
def test_words_that_name_the_deed_send_it(language: str, said: str) -> None:
    assert submits(answer(read_back(language), said))


@pytest.mark.parametrize(("language", "said"), [(lang, words) for lang, all_of in BARE.items() for words in all_of])
def test_a_bare_yes_is_asked_to_name_it(language: str, said: str) -> None:
    call = read_back(language)
    [asked] = answer(call, said)
    assert isinstance(asked, Clarify)
    assert asked.reply.id == "consent.doubted"
    [again] = answer(call, said)
    assert isinstance(again, Confirm), "then it is read back again"


@pytest.mark.parametrize("language", sorted(CALLERS))
def test_silence_is_told_what_to_say(language: str) -> None:
    [asked] = read_back(language).play(Turn(silence=True))[1]
    assert isinstance(asked, Clarify)
    assert asked.reply.params["second"] == Reply(RuleId("consent.doubted"))


@pytest.mark.parametrize(("language", "said"), [(lang, words) for lang, all_of in OTHER.items() for words in all_of])
def test_anything_else_sends_nothing(language: str, said: str) -> None:
    made = answer(read_back(language), said)
    assert not submits(made)
    assert not any(isinstance(each, Handoff) for each in made)
