"""What the service says of the line itself: when the caller's credential ends, and that the service is going away."""

from typing import Literal

from schemas.wire.event import Event


class TokenExpiringEvent(Event):
    """The access token that opened the call ends in so many seconds; without a `tellerline.token` the call does too."""

    type: Literal["tellerline.token.expiring"] = "tellerline.token.expiring"
    expires_in_s: int


class TokenRenewedEvent(Event):
    """A newer token was taken; it ends in so many seconds."""

    type: Literal["tellerline.token.renewed"] = "tellerline.token.renewed"
    expires_in_s: int


class DrainingEvent(Event):
    """The service is going away: the call may be finished within `closes_in_s`; new ones are taken after a while."""

    type: Literal["tellerline.draining"] = "tellerline.draining"
    closes_in_s: int
    retry_after_s: int
