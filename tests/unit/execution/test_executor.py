"""What comes back of an action that is refused."""

import pytest

from schemas.decision import ReadBalance
from schemas.errors import BankUnavailable, StepUpRequired, TellerlineError
from schemas.ids import CallId, CustomerId
from services.dialogue import ActionFailed
from services.execution import ActionExecutor, Banking


class FakeRefusingBank:
    """Refuses to say what it holds."""

    def __init__(self, refusal: TellerlineError) -> None:
        self.refusal = refusal

    async def accounts(self, _customer: CustomerId) -> object:
        raise self.refusal


@pytest.mark.parametrize("refusal", [BankUnavailable(), StepUpRequired()])
async def test_a_refusal_is_told_also_one_that_no_second_factor_can_lift(refusal: TellerlineError) -> None:
    banking = Banking(FakeRefusingBank(refusal), *4 * [None])  # type: ignore[arg-type] # nothing else is asked
    event = await ActionExecutor(banking, CustomerId("ann"), CallId("call")).perform(ReadBalance())
    assert event == ActionFailed(refusal.code, refusal.spoken, ReadBalance())
