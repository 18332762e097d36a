"""One tree of errors. Each class fixes what every edge needs to say about it.

TellerlineError
├── BadInput                     400  the request can't be read
│   ├── MalformedMessage         400  not JSON, not an object, wrong types
│   ├── UnknownEvent             400  an event type we do not know
│   ├── WrongState               409  right event, wrong moment
│   ├── TooLarge                 413  frame, upload or text over its bound
│   ├── UnsupportedAudio         415  codec, rate or channels we do not take
│   ├── MalformedAudio           422  bytes that are not the audio they claim to be
│   └── UnsupportedLocale        422  no rules for that locale
├── NotAllowed                   403
│   ├── Unauthenticated          401  no credential, or one that does not verify
│   └── MissingScope             403  a valid credential without the scope
├── NotFound                     404  no such thing for this customer
├── Busy                         503  past capacity; retry later
│   ├── RateLimited              429
│   └── Draining                 503  the process is going away
├── MoneyRefused                 409  the one door stayed shut
│   ├── ConfirmationInvalid      409  seal, nonce, call or order do not fit
│   ├── ConfirmationExpired      410
│   ├── ConfirmationUsed         409
│   ├── NotDelivered             409  a yes before the read-back was heard
│   ├── StepUpRequired           403
│   ├── LimitExceeded            409
│   ├── InsufficientFunds        409
│   ├── PayeeChanged             409
│   ├── NotCarriedOut            503  a yes that certainly came to nothing
│   ├── MoneyWaits               503  what is done can't be put on record for now
│   ├── KeyReused                422  same idempotency key, another request
│   └── InFlight                 409  same key, still being worked on
├── DependencyFailed             502
│   ├── BankUnavailable          503
│   ├── BankGarbage              502
│   ├── CodeNotSent              503  no one-time code could be sent (schemas/stepup.py)
│   ├── RecognizerUnavailable    503
│   ├── ModelUnavailable         503
│   ├── SpeechUnavailable        503
│   ├── CarrierUnavailable       503  a telephone carrier did not transfer or end a call
│   ├── StoreUnavailable         503
│   │   └── StoreRefused         503  the database said no: nothing happened
│   └── NotReady                 503  the next caller can't be served
├── TimedOut                     504  a deadline passed
│   ├── CallIdle                 408  nobody said anything for long
│   ├── CallTooLong              408  a call reached its longest time
│   └── SlowConsumer             408  the client does not read what it is sent
└── InternalFault                500  ours
    ├── RulesInvalid             500  a rules file does not validate (start-up)
    ├── ConfigInvalid            500  a setting does not validate (start-up)
    └── AuditBroken              500  the audit chain does not verify
"""

from typing import ClassVar


class TellerlineError(Exception):
    """Root of the tree. The message is for engineers and must hold no personal data; callers hear `spoken`."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    ws_close: ClassVar[int] = 1011
    fatal: bool = False
    """Whether a WebSocket call is closed with `ws_close` rather than told by an `error` event."""
    retryable: ClassVar[bool] = False
    spoken: ClassVar[str] = "error.internal"
    """Id of a reply template, so that an error is never silence."""

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message or self.code)
        self.message = message or self.code
        self.retry_after_s = retry_after_s


class BadInput(TellerlineError):
    """The request can't be read; nothing was done."""

    code, http_status, ws_close, spoken = "bad_input", 400, 1007, "error.not_understood"


class MalformedMessage(BadInput):
    """Not JSON, not an object, or of wrong types."""

    code = "malformed_message"


class UnknownEvent(BadInput):
    """An event type the protocol does not have."""

    code = "unknown_event"


class WrongState(BadInput):
    """A known event at a moment it does not fit."""

    code, http_status, ws_close = "wrong_state", 409, 1008


class TooLarge(BadInput):
    """A frame, upload, text or book over its bound."""

    code, http_status, ws_close, fatal = "too_large", 413, 1009, True


class UnsupportedAudio(BadInput):
    """A codec, rate or channel count that is not taken."""

    code, http_status, ws_close = "unsupported_audio", 415, 1003


class MalformedAudio(BadInput):
    """Bytes that are not the audio they claim to be."""

    code, http_status = "malformed_audio", 422


class UnsupportedLocale(BadInput):
    """No rules exist for the locale."""

    code, http_status = "unsupported_locale", 422


class NotAllowed(TellerlineError):
    """The credential does not permit this."""

    code, http_status, ws_close, fatal, spoken = "not_allowed", 403, 4403, True, "error.not_allowed"


class Unauthenticated(NotAllowed):
    """No credential, or one that does not verify."""

    code, http_status, ws_close = "unauthenticated", 401, 4401


class MissingScope(NotAllowed):
    """A valid credential without the needed scope."""

    code = "missing_scope"


class NotFound(TellerlineError):
    """No such thing for this customer."""

    code, http_status, ws_close, spoken = "not_found", 404, 1008, "error.not_found"


class Busy(TellerlineError):
    """Past capacity: refused at once, with a time to retry."""

    code, http_status, ws_close, fatal, retryable = "busy", 503, 1013, True, True
    spoken = "error.busy"


class RateLimited(Busy):
    """This client asks too often."""

    code, http_status = "rate_limited", 429


class Draining(Busy):
    """The process is going away; another one answers."""

    code = "draining"


class MoneyRefused(TellerlineError):
    """The one door stayed shut; nothing moved."""

    code, http_status, ws_close, spoken = "money_refused", 409, 1008, "error.money_refused"


class ConfirmationInvalid(MoneyRefused):
    """Seal, nonce, call, customer or order do not fit the proposal."""

    code = "confirmation_invalid"


class ConfirmationExpired(MoneyRefused):
    """The proposal's time is over."""

    code, http_status, spoken = "confirmation_expired", 410, "error.confirmation_expired"


class ConfirmationUsed(MoneyRefused):
    """The confirmation was already spent, or the proposal voided or taken up by another call."""

    code, spoken = "confirmation_used", "error.confirmation_used"


class NotDelivered(MoneyRefused):
    """A yes before the read-back was delivered."""

    code = "not_delivered"


class StepUpRequired(MoneyRefused):
    """A second factor is needed first."""

    code, http_status, spoken = "step_up_required", 403, "error.step_up_required"


class LimitExceeded(MoneyRefused):
    """A limit per transfer or day would be passed."""

    code, spoken = "limit_exceeded", "error.limit_exceeded"


class InsufficientFunds(MoneyRefused):
    """The source account does not hold enough."""

    code, spoken = "insufficient_funds", "error.insufficient_funds"


class PayeeChanged(MoneyRefused):
    """The payee's account changed since the read-back."""

    code, spoken = "payee_changed", "error.payee_changed"


class NotCarriedOut(MoneyRefused):
    """A yes that could not be carried out, for a reason of ours: certainly nothing moved, and nothing will."""

    code, http_status, retryable, spoken = "not_carried_out", 503, True, "error.not_carried_out"


class MoneyWaits(MoneyRefused):
    """What is done can't be put on record for now, so no money is moved until it can."""

    code, http_status, retryable, spoken = "money_waits", 503, True, "error.money_waits"


class KeyReused(MoneyRefused):
    """The idempotency key came with another request."""

    code, http_status = "key_reused", 422


class InFlight(MoneyRefused):
    """The same request is still being worked on."""

    code, retryable = "in_flight", True


class DependencyFailed(TellerlineError):
    """Something we rely on failed."""

    code, http_status, retryable, spoken = "dependency_failed", 502, True, "error.try_again"


class BankUnavailable(DependencyFailed):
    """The core bank did not answer, so whatever was asked may or may not have happened."""

    code, http_status, spoken = "bank_unavailable", 503, "error.bank_unavailable"


class BankGarbage(DependencyFailed):
    """The core bank answered something unreadable."""

    code, spoken = "bank_garbage", "error.bank_unavailable"


class RecognizerUnavailable(DependencyFailed):
    """The recogniser is not loaded or failed."""

    code, http_status = "recognizer_unavailable", 503


class ModelUnavailable(DependencyFailed):
    """A language model endpoint is absent, slow or broken."""

    code, http_status = "model_unavailable", 503


class SpeechUnavailable(DependencyFailed):
    """The synthesiser is not installed, slow or broken: the reply is text alone."""

    code, http_status = "speech_unavailable", 503


class CarrierUnavailable(DependencyFailed):
    """A telephone carrier's API did not do what it was asked for a call."""

    code, http_status = "carrier_unavailable", 503


class StoreUnavailable(DependencyFailed):
    """The database did not answer: what was asked of it may or may not have happened."""

    code, http_status = "store_unavailable", 503


class StoreRefused(StoreUnavailable):
    """The database said no, or could not be asked: nothing of what was asked happened."""

    code, spoken = "store_refused", "error.not_now"


class NotReady(DependencyFailed):
    """The next caller could not be served; the message names what is missing."""

    code, http_status = "not_ready", 503


class TimedOut(TellerlineError):
    """A deadline passed."""

    code, http_status, retryable, spoken = "timed_out", 504, True, "error.try_again"


class CallIdle(TimedOut):
    """Nobody said or did anything for long; the call is closed."""

    code, http_status, ws_close, fatal = "call_idle", 408, 4408, True


class CallTooLong(TimedOut):
    """The call reached its longest time."""

    code, http_status, ws_close, fatal = "call_too_long", 408, 4408, True


class SlowConsumer(TimedOut):
    """The client does not read what it is sent."""

    code, http_status, ws_close, fatal = "slow_consumer", 408, 1008, True


class InternalFault(TellerlineError):
    """A fault of ours."""

    code = "internal_fault"


class RulesInvalid(InternalFault):
    """A rules file does not validate."""

    code = "rules_invalid"


class ConfigInvalid(InternalFault):
    """A setting does not validate."""

    code = "config_invalid"


class AuditBroken(InternalFault):
    """The audit chain does not verify."""

    code = "audit_broken"
