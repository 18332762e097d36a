"""The pipeline of a replay process: the bundled recogniser (or the one that is set) and rehearsed calls."""

from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from app.qa.rehearsal import Rehearsal, RehearsedCall
from app.qa.replay.cache.fingerprint import fingerprint
from app.qa.replay.cache.recognizer import CacheUse, CachingRecognizer
from app.qa.replay.manifests.manifest import Case, CaseTurn, Manifest
from app.qa.replay.playing import forked
from app.qa.replay.playing.player import PipelinePlayer
from app.qa.replay.provenance import code_hash, folder_hash, settings_that_matter, weights
from app.qa.replay.records.journal import RunHead
from app.settings import Settings
from rules.bank import usual_customer
from rules.load import ruleset_hash
from schemas.errors import NotFound, RecognizerUnavailable, TellerlineError
from schemas.ids import CustomerId
from services.ports import Clock, Recognizer
from services.timing import SystemClock


@dataclass(frozen=True, slots=True)
class PipelineSpec:
    """How a process composes its pipeline. Text alone needs no recogniser.

    `follow` says recorded turns only to the questions that they answered. Where a `cache` is named, what earlier runs
    heard is not decoded again; decisions are the same.
    """

    settings: Settings
    sound: bool
    locales: tuple[str, ...] = ()
    follow: bool = False
    cache: CacheUse | None = None

    @classmethod
    def of(
        cls, settings: Settings, manifest: Manifest, *, follow: bool = False, cache: CacheUse | None = None
    ) -> "PipelineSpec":
        """The pipeline that a manifest needs."""
        sound = any(turn.audio for case in manifest.cases for turn in case.turns)
        return cls(settings, sound, tuple(sorted({case.locale for case in manifest.cases})), follow, cache)

    def head(self, manifest: Manifest, corpus: str) -> RunHead:
        """What the decisions depend on."""
        settings = self.settings
        models = [settings.extraction_model] if settings.extraction_url else []
        models += [settings.qna_model] if settings.qna_url else []
        return RunHead(
            manifest=manifest.digest(),
            ruleset=ruleset_hash(),
            recognizer=recognizer_id(settings) if self.sound else "",
            models=" ".join(models),
            tellerline=version("tellerline"),
            mode="in process, following" if self.follow else "in process",
            corpus=corpus,
            cases=len(manifest.cases),
            code=code_hash(),
            settings=settings_that_matter(settings),
        )

    def weights(self) -> dict[str, str]:
        """The recogniser's files, each with a hash."""
        return weights(weights_folder(self.settings)) if self.sound else {}

    def prepare(self) -> None:
        """Imports and rules."""
        forked.prepare()

    async def open(self) -> PipelinePlayer:
        """Compose it and warm it up."""
        recognizer = await self._recognizer() if self.sound else None
        identity = recognizer_id(self.settings) if self.sound else ""
        player = PipelinePlayer(
            PipelineHouse(self.settings, recognizer), identity, ruleset_hash()[:16], follow=self.follow
        )
        for locale in self.locales:
            await _warm_up(player, locale)
        return player

    async def _recognizer(self) -> Recognizer:
        """Warm; what its files were before and after it was loaded is what it is made of."""
        from services.asr import load

        settings, folder = self.settings, weights_folder(self.settings)
        before = fingerprint(settings, folder) if self.cache else ""
        recognizer = load(settings.asr_model, workers=1, device=settings.asr_device)
        await recognizer.warm_up()
        if self.cache is None or not before or fingerprint(settings, folder) != before:
            return recognizer
        return CachingRecognizer(recognizer, before, self.cache, SystemClock())


async def _warm_up(player: PipelinePlayer, locale: str) -> None:
    """Say something in a locale, so that no turn that is measured pays for what is loaded when first needed.

    A locale that can't be played fails when its cases are.
    """
    with suppress(TellerlineError):
        await player.play(Case(id="warm-up", locale=locale, turns=(CaseTurn(text="100"),)), Path())


class PipelineHouse:
    """Rehearsed calls, and one recogniser for all of them."""

    def __init__(self, settings: Settings, recognizer: Recognizer | None) -> None:
        self._rehearsal = Rehearsal(settings)
        self._recognizer = recognizer

    @property
    def recognizer(self) -> Recognizer:
        """The recogniser. Raises RecognizerUnavailable where the manifest needed none."""
        if self._recognizer is None:
            raise RecognizerUnavailable("a replay of text alone has no recogniser")
        return self._recognizer

    @property
    def kept(self) -> int:
        """How many transcripts were taken from earlier runs."""
        return self._recognizer.hits if isinstance(self._recognizer, CachingRecognizer) else 0

    def call(self, case: Case, clock: Clock) -> AbstractAsyncContextManager[RehearsedCall]:
        """A call of the case's own caller or customer, or of the demo's first in that locale. Raises NotFound."""
        if case.facts is not None:
            return self._rehearsal.opened(CustomerId(case.facts.customer), case.language, clock, (case.facts,))
        customer = case.customer or usual_customer(case.locale)
        if customer is None:
            raise NotFound(f"no demo customer speaks {case.locale}")
        return self._rehearsal.opened(CustomerId(customer), case.language, clock)

    async def close(self) -> None:
        """Release the recogniser and the rehearsal."""
        if self._recognizer is not None:
            await self._recognizer.close()
        await self._rehearsal.close()


def recognizer_id(settings: Settings) -> str:
    """The checkpoint's name with a hash of its files, so that a new model is a new run."""
    folder = weights_folder(settings)
    return f"{Path(settings.asr_model).name}@{folder_hash(folder)}" if folder.is_dir() else settings.asr_model


def weights_folder(settings: Settings) -> Path:
    """Where the recogniser's files lie; an absent path where they are not on this machine."""
    from services.asr.load import folder_of

    folder = folder_of(settings.asr_model)
    return folder if folder.is_dir() else _downloaded(settings.asr_model)


def _downloaded(name: str) -> Path:
    """Where a checkpoint lies that was fetched by its name before; an absent path where it was not."""
    from faster_whisper.utils import download_model

    try:
        return Path(download_model(name, local_files_only=True))
    except (OSError, ValueError):
        return Path(name)
