"""Replies stopped at every await of what they do: whatever was begun ends, is told, and leaves nothing behind it."""

from collections.abc import Awaitable, Callable

import pytest

from tests.harness import cut_stories as stories
from tests.harness.cut_stories import AFTERWARDS, STORIES, Story


@pytest.mark.parametrize("then", AFTERWARDS)
@pytest.mark.parametrize("story", STORIES)
async def test_what_a_stopped_reply_had_begun_ends_and_is_told(story: str, then: str) -> None:
    await stories.ends_and_is_told(STORIES[story], AFTERWARDS[then])


@pytest.mark.parametrize(
    "check", [stories.taken_back_leaves_nothing, stories.hung_up_leaves_nothing_open, stories.cut_off_ends_all_the_same]
)
@pytest.mark.parametrize("story", STORIES)
async def test_it_leaves_nothing_behind(story: str, check: Callable[[Story], Awaitable[None]]) -> None:
    await check(STORIES[story])


@pytest.mark.parametrize(
    "holds",
    [
        stories.a_person_comes_all_the_same,
        stories.only_what_was_read_back_is_submitted,
        stories.what_was_heard_done_is_not_doubted,
        stories.a_reply_that_failed_was_not_heard,
        stories.an_error_is_told_however_much_waits,
    ],
)
async def test_and_it_holds_that(holds: Callable[[], Awaitable[None]]) -> None:
    await holds()
