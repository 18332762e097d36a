"""Payee search: the right person among 10,000 from what a telephone made of the name, beside rapidfuzz WRatio."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, thread_time
from typing import Annotated, Final, NamedTuple

import typer

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from app.qa.replay.judging.stats import clopper_pearson
from deploy.bench._payees.dice import Dice
from deploy.bench._payees.sample import PayeeNaming, Setting, overheard, setting
from deploy.bench._payees.spoken import spoken
from deploy.bench._payees.stock import book
from deploy.reporting import percentile, publish
from schemas.ids import EN_GB, EN_US, Locale
from schemas.payee import MatchOutcome, PayeeMatch

_SEEDS: Final = {"development": 1, "acceptance": 2}
_SMALLER: Final = ((60, 50, 0.35), (400, 10, 0.1))
"""Payees of smaller books, how many of them, and the share of calls that say one part of a name."""
_SMALLER_SHARE: Final = 2
"""One call about books of a smaller size for so many about the large one."""
_OVERHEARD: Final = (60, 400, 10_000)
"""Payees of the books that overheard names are sought in."""
_KEPT: Final = ("recall_at_1", "wrong_choice_rate", "wrong_choices", "choices", "coverage_auto", "known_refused_rate")
_STRANGERS: Final = 0.2
_WARM_UP_CALLS: Final = 30
_WRATIO_CALLS: Final = 120
"""Calls a language that WRatio also answers."""


class NamingTally(NamedTuple):
    """What came of one call."""

    known: bool
    first: bool
    among_three: bool
    chosen: bool
    wrong: bool
    refused: bool
    found_first: bool
    found_ms: float
    found_cpu_ms: float


class PayeeRun(NamedTuple):
    """One setting's calls and the time to build its index."""

    calls: Sequence[NamingTally]
    build_ms: float
    build_cpu_ms: float


def bench(
    json: Annotated[Path | None, typer.Option(help="write the figures here")] = None,
    half: Annotated[str, typer.Option(help="development or acceptance; of names in a file also all")] = "acceptance",
    names: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="only names as heard, a JSON line each (nbest, target), among payees, the same (id, name)"),
    ] = None,
    calls: Annotated[int, typer.Option(help="calls a language")] = 10_000,
    payees: Annotated[int, typer.Option(help="payees in the large book")] = 10_000,
    seed: Annotated[int, typer.Option(help="of books, callers and line")] = 0,
    fit: Annotated[Path | None, typer.Option(help="fit on the development half and write the calibration here")] = None,
    stage: Annotated[str, typer.Option(help="what to fit: weights; or trust, under the weights in force")] = "trust",
) -> None:
    """Recall, wrong choices and latency of payee search on a confusion set made here."""
    from services.payees import warm_up

    warm_up()
    if fit is not None:
        _fit(fit, stage, seed)
        return
    if names is not None:
        made = spoken(*names, half)
        workload = f"{names[0].name}, {half}: {len(made.calls)} names among {len(made.persons)} payees"
        publish("payees", workload, _sure(run(made, EN_GB)), json)
        return
    figures = _searched(half, payees, calls, seed)
    smaller = ", ".join(f"{books} books of {size} ({parts:.0%} say one part)" for size, books, parts in _SMALLER)
    workload = (
        f"{half} half, seed {seed}: {calls} calls a language, {payees} payees, {_STRANGERS:.0%} strangers,"
        f" 4 hypotheses; {calls // _SMALLER_SHARE} calls about {smaller};"
        " overheard: English names spoken by offline voices, heard by the bundled recogniser"
    )
    publish("payees", workload, figures, json)


def _searched(half: str, payees: int, calls: int, seed: int) -> dict[str, Figure]:
    """The figures of both languages together, then of each, of smaller books, and of overheard names."""
    figures: dict[str, Figure] = {}
    large: list[PayeeRun] = []
    for language, locale in LOCALES.items():
        dice = Dice(seed, _SEEDS[half], len(large))
        made = setting(half, language, payees=payees, calls=calls, strangers=_STRANGERS, parts=0.0, dice=dice)
        large.append(run(made, locale))
        figures |= {f"{language}_{key}": value for key, value in summary([large[-1]]).items()}
        figures |= {f"{language}_{key}": value for key, value in wratio(made, _WRATIO_CALLS).items()}
        figures |= _smaller(half, language, calls, dice)
    for size in _OVERHEARD:
        figures |= _kept(f"overheard_{size}", overheard(half, size, Dice(seed, _SEEDS[half], size)), EN_US)
    return {**summary(large), **_mean(figures, ("wratio_recall_at_1", "wratio_recall_at_3")), **figures}


def _smaller(half: str, language: str, calls: int, dice: Dice) -> dict[str, Figure]:
    """The figures of smaller books, many of each size."""
    figures: dict[str, Figure] = {}
    for size, books, parts in _SMALLER:
        each = calls // books // _SMALLER_SHARE
        settings = [
            setting(half, language, payees=size, calls=each, strangers=_STRANGERS, parts=parts, dice=dice)
            for _ in range(books)
        ]
        figures |= _kept(f"{language}_{size}", settings, LOCALES[language])
    return figures


def _kept(prefix: str, settings: Sequence[Setting], locale: Locale) -> dict[str, Figure]:
    """The figures that matter of books of one size."""
    found = summary([run(each, locale) for each in settings])
    return {f"{prefix}_{key}": found[key] for key in _KEPT}


def _fit(target: Path, stage: str, seed: int) -> None:
    from deploy.bench._payees import fit, trust

    if stage == "weights":
        fit.refit(target, Dice(seed, _SEEDS["development"]))
    elif stage == "trust":
        trust.refit(target, _SEEDS["development"])
    else:
        raise typer.BadParameter(stage, param_hint="--stage")


def run(made: Setting, locale: Locale) -> PayeeRun:
    """Every call of a setting, by the name alone for recall and by the whole utterance for latency."""
    from services.payees import PayeeIndex

    payees = book(made.persons)
    start, cpu = perf_counter(), thread_time()
    index = PayeeIndex.build(payees)
    build_ms, build_cpu_ms = (perf_counter() - start) * 1000, (thread_time() - cpu) * 1000
    for call in made.calls[:_WARM_UP_CALLS]:
        index.find(call.utterances, locale)
    tallies = []
    for call in made.calls:
        start, cpu = perf_counter(), thread_time()
        found = index.find(call.utterances, locale)
        times = ((perf_counter() - start) * 1000, (thread_time() - cpu) * 1000)
        tallies.append(_tally(call, index.lookup(call.names, locale), found, times))
    return PayeeRun(tallies, build_ms, build_cpu_ms)


def _tally(
    call: PayeeNaming, match: PayeeMatch | None, found: PayeeMatch | None, times: tuple[float, float]
) -> NamingTally:
    meant = None if call.meant is None else f"p{call.meant}"
    ranked = [] if match is None else [str(candidate.id) for candidate in match.candidates]
    choice = None if match is None else match.choice
    return NamingTally(
        known=meant is not None,
        first=ranked[:1] == [meant],
        among_three=meant in ranked[:3],
        chosen=choice is not None,
        wrong=choice is not None and choice != meant,
        refused=match is None or match.outcome is MatchOutcome.NOBODY,
        found_first=found is not None and bool(found.candidates) and found.candidates[0].id == meant,
        found_ms=times[0],
        found_cpu_ms=times[1],
    )


def summary(runs: Sequence[PayeeRun]) -> dict[str, Figure]:
    """The figures of some runs together."""
    calls = [call for each in runs for call in each.calls]
    known = [call for call in calls if call.known]
    strangers = [call for call in calls if not call.known]
    chosen = [call for call in calls if call.chosen]
    times = [call.found_ms for call in calls]
    low, high = clopper_pearson(sum(call.wrong for call in chosen), len(chosen))
    return {
        "recall_at_1": _share([call.first for call in known]),
        "recall_at_3": _share([call.among_three for call in known]),
        "found_in_utterance_at_1": _share([call.found_first for call in known]),
        "wrong_choice_rate": _share([call.wrong for call in chosen]),
        "wrong_choice_rate_low_95": low,
        "wrong_choice_rate_high_95": high,
        "wrong_choices": sum(call.wrong for call in chosen),
        "choices": len(chosen),
        "coverage_auto": _share([call.chosen and not call.wrong for call in known]),
        "known_refused_rate": _share([call.refused for call in known]),
        "strangers_refused_rate": _share([call.refused for call in strangers]),
        "strangers_not_chosen_rate": _share([not call.chosen for call in strangers]),
        "p50_ms": percentile(times, 50),
        "p99_ms": percentile(times, 99),
        "build_ms": max(each.build_ms for each in runs),
        "cpu_p50_ms": percentile([call.found_cpu_ms for call in calls], 50),
        "cpu_p99_ms": percentile([call.found_cpu_ms for call in calls], 99),
        "build_cpu_ms": max(each.build_cpu_ms for each in runs),
    }


def wratio(made: Setting, limit: int) -> dict[str, Figure]:
    """The same calls (the first `limit`) ranked by rapidfuzz WRatio alone, the best of all hypotheses."""
    from rapidfuzz import fuzz, process

    said = [person.said.replace(" ", "") if person.written else person.said for person in made.persons]
    written = [person.written.replace(" ", "") for person in made.persons if person.written]
    known = [call for call in made.calls[:limit] if call.meant is not None]
    first, among, times = [], [], []
    for call in known:
        start = perf_counter()
        scores = process.cdist(call.names, said, scorer=fuzz.WRatio).max(axis=0)
        if written:
            scores = scores.clip(min=process.cdist(call.names, written, scorer=fuzz.WRatio).max(axis=0))
        best = (-scores).argsort(kind="stable")[:3].tolist()
        times.append((perf_counter() - start) * 1000)
        first.append(best[0] == call.meant)
        among.append(call.meant in best)
    return {
        "wratio_recall_at_1": _share(first),
        "wratio_recall_at_3": _share(among),
        "wratio_p50_ms": percentile(times, 50),
        "wratio_calls": len(known),
    }


def _sure(done: PayeeRun) -> dict[str, Figure]:
    """The figures of names in a file: what was counted, with 95 % intervals."""
    counts = {
        "recall_at_1": [call.first for call in done.calls],
        "recall_at_3": [call.among_three for call in done.calls],
        "found_in_utterance_at_1": [call.found_first for call in done.calls],
        "chosen": [call.chosen for call in done.calls],
        "wrong_choice": [call.wrong for call in done.calls if call.chosen],
        "called_unknown": [call.refused for call in done.calls],
    }
    figures: dict[str, Figure] = {}
    for name, flags in counts.items():
        low, high = clopper_pearson(sum(flags), len(flags))
        figures |= {name: _share(flags), f"{name}_low_95": low, f"{name}_high_95": high}
    times = [call.found_cpu_ms for call in done.calls]
    figures |= {"wrong_choices": sum(counts["wrong_choice"]), "choices": sum(counts["chosen"])}
    return figures | {"cpu_p50_ms": percentile(times, 50), "cpu_p99_ms": percentile(times, 99)}


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _mean(figures: dict[str, Figure], keys: Sequence[str]) -> dict[str, Figure]:
    """The mean of a figure over the languages."""
    values = {key: [figures[f"{language}_{key}"] for language in LOCALES] for key in keys}
    return {key: sum(float(v or 0) for v in each) / len(each) for key, each in values.items()}
