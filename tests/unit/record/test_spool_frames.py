"""How a spool's file is cut into entries."""

import pytest

from services.record.frames import written_up_to

STRIDE = 1 << 16


@pytest.mark.parametrize("size", [0, 1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE + 5])
def test_what_was_never_written_is_passed_over(size: int) -> None:
    assert written_up_to(bytes(size)) == 0
    for last in {0, 1, size - STRIDE - 1, size - STRIDE, size - 1} & set(range(size)):
        whole = bytearray(size)
        whole[0] = whole[last] = 7
        assert written_up_to(bytes(whole)) == last + 1
