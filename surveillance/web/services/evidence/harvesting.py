"""Verdicts on alerts, brought back into the labelled data.

Beside the views that a run kept (`candidates.jsonl`) their verdicts are written to
`verdicts.jsonl`, as `feltwatch dataset harvest` reads them; of an overruled alert of which
none were kept they are cut from its bundle, into a folder of its own. Where the server has a
labelled dataset, the views of overruled alerts are put into it at once. So many views that
were cut are kept as the site says.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Literal

from datasets.labelled.harvest import CANDIDATES, VERDICTS, VIEWS, Verdict, harvest
from settlement.errors import FeltwatchError
from surveillance.store import AlertRow, NotStoredError, Store
from surveillance.web.services.evidence.bundle_views import cut_views
from surveillance.web.services.evidence.candidate_folders import KEEP, CandidateFolders

_RIGHT: dict[str, Literal["right", "wrong"]] = {
    "confirmed": "right",
    "rejected": "wrong",
    # Something that was read was not so, or the alert would stand as it is.
    "corrected": "wrong",
}


class Harvesting:
    """Keeps verdicts beside the views they are about."""

    def __init__(
        self,
        store: Store,
        evidence_dir: Path | None,
        datasets: tuple[Path, ...],
        keep: int = KEEP,
    ) -> None:
        """The first of `datasets` takes the views of overruled alerts; none: only verdicts.

        `keep`: how many of the views that are cut from bundles are kept.
        """
        self._store = store
        self._evidence_dir = evidence_dir.resolve() if evidence_dir is not None else None
        self._dataset = datasets[0] if datasets else None
        self._cut_ones: CandidateFolders | None = None
        if self._evidence_dir is not None:
            self._cut_ones = CandidateFolders(self._evidence_dir / VIEWS, keep)
        self._turn = threading.Lock()

    def folder(self, alert: AlertRow) -> Path | None:
        """The folder with the views of the run that raised the alert; None when none were kept."""
        for start in self._starts(alert):
            for folder in (start, *start.parents):
                if (folder / CANDIDATES).is_file():
                    return folder
                if folder == self._evidence_dir:
                    break
        return None

    def _starts(self, alert: AlertRow) -> list[Path]:
        """Where to begin looking: the recording's results, the folders of the images."""
        found = []
        if alert.recording_id is not None:
            try:
                out = self._store.recordings.get(alert.recording_id).out
            except NotStoredError:
                out = None
            if out is not None and self._evidence_dir is not None:
                found.append(self._evidence_dir / out)
        if self._evidence_dir is not None:
            for name in (*alert.alert.pictures, alert.bundle or ""):
                place = (self._evidence_dir / name).resolve().parent
                if name and place.is_relative_to(self._evidence_dir):
                    found.append(place)
        return found

    def _own_folder(self, alert: AlertRow) -> Path | None:
        """Return the folder of an alert's views that are cut from its bundle."""
        if self._evidence_dir is None or not alert.bundle:
            return None
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{alert.camera}-{alert.id}-{alert.alert.alert_id}")
        return self._evidence_dir / VIEWS / name

    def _cut(self, alert: AlertRow, folder: Path) -> None:
        assert self._evidence_dir is not None
        bundle = (self._evidence_dir / str(alert.bundle)).resolve()
        if not bundle.is_relative_to(self._evidence_dir) or not bundle.is_file():
            raise FeltwatchError(f"the bundle of alert {alert.id} is gone")
        round_id = "none"
        if alert.round is not None:
            round_id = self._store.rounds.get(alert.round).round_id
        video = f"{alert.camera} {alert.at:%Y-%m-%d}"
        if cut_views(bundle, alert, round_id, video, folder) == 0:
            raise FeltwatchError("its clip does not show the images' times")
        if self._cut_ones is not None:
            self._cut_ones.sweep(newest=folder)

    def take(self, alert: AlertRow, by: str) -> str:
        """Keep the verdict on an alert; in one line, what came of it.

        Call it after the verdict is in the store. Nothing is raised for views that are gone
        or a dataset that cannot be written: the verdict itself is safe.
        """
        verdict = Verdict(alert_id=alert.alert.alert_id, verdict=_RIGHT[alert.state], by=by)
        with self._turn:
            folder = self.folder(alert) or self._own_folder(alert)
            if folder is None or not (folder / CANDIDATES).is_file():
                if verdict.verdict == "right" or folder is None:
                    return "no views were kept of it"
                try:
                    self._cut(alert, folder)
                except (OSError, FeltwatchError) as error:
                    return f"no views were kept of it, and none can be cut: {error}"
            try:
                with (folder / VERDICTS).open("a", encoding="utf-8") as file:
                    file.write(verdict.model_dump_json() + "\n")
                if verdict.verdict == "right" or self._dataset is None:
                    return f"verdict kept in {folder.name}/{VERDICTS}"
                summary = harvest([folder], self._dataset, overruled_only=True)
                if self._cut_ones is not None:
                    self._cut_ones.note_harvested(folder)
            except OSError as error:
                return f"verdict not kept beside the views: {error.strerror or error}"
            except FeltwatchError as error:
                return f"views not put into the dataset: {error}"
        return (
            f"{summary.added} view{'' if summary.added == 1 else 's'} put into the dataset "
            f"{self._dataset.name}, {summary.present} there before"
        )
