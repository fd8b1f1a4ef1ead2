"""Kill imports, reviews of labels and a server that saves verdicts; see faults.py beside this."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np

from datasets.labelled.manifest import PICTURES, Dataset
from surveillance.accounts import Accounts, Role
from surveillance.store import AlertFilter, AlertRow, AuditFilter, Store
from tests.surveillance import postgres
from tests.surveillance.live import record_made
from tests.surveillance.web.review_made import make_dataset, start_server

IMAGES = 1200
SAVES_A_KILL = 60
ROUNDS_A_KILL = 40
PATIENCE_S = 300.0


# Importing


def make_source(folder: Path, many: int) -> Path:
    """Make labelled images of noise in YOLO's form."""
    luck = np.random.default_rng(17)
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True)
    for number in range(many):
        image = luck.integers(0, 255, (96, 96, 3), np.uint8)
        cv2.imwrite(str(folder / f"images/{number:04d}.jpg"), image)
        lines = f"{number % 3} 0.5 0.5 0.3 0.3\n{(number + 1) % 3} 0.25 0.25 0.1 0.2\n"
        (folder / f"labels/{number:04d}.txt").write_text(lines)
    (folder / "data.yaml").write_text("names: [AS, KD, QH]\ntrain: images\nval: images\n")
    return folder


def content(folder: Path) -> dict[str, Any]:
    """Everything in a dataset but the times of changes and the numbers of rows."""
    found: dict[str, Any] = {}
    with Dataset.open(folder) as dataset:
        for one in dataset.pictures():
            data = (folder / PICTURES / one.file).read_bytes()
            assert one.file not in found, "an image is in the dataset twice"
            assert hashlib.sha256(data).hexdigest() == one.sha256, f"{one.file}: another file"
            history = [(c.revision, c.by, c.what) for c in dataset.history(one.id)]
            boxes = dataset.boxes(one.id)
            found[one.file] = (one.width, one.height, one.sha256, one.phash, boxes, history)
        found["labels of all"] = dataset.labels
    return found


def leftovers(folder: Path) -> list[str]:
    """Names of what stands in a dataset's folder and is no part of it."""
    with Dataset.open(folder) as dataset:
        known = {one.file for one in dataset.pictures()}
    own = {p.relative_to(folder / PICTURES).as_posix() for p in (folder / PICTURES).rglob("*.*")}
    return sorted(own - known) + [p.name for p in folder.glob(".*")]


def kill_importing(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill `feltwatch dataset import` of a folder and of an archive, and run it again."""
    source = make_source(folder / "source", IMAGES)
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-c", folder / "source.zip", *source.iterdir()],
        check=True,
    )

    def start(from_: Path, into: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "surveillance", "dataset", "import", str(from_)]
        return subprocess.Popen(
            [*command, "--into", str(into), "--name", "shots", "--quiet"],
            stdout=subprocess.DEVNULL,
        )

    began, wall = time.monotonic(), time.time() - 3600
    assert start(source, folder / "undisturbed").wait(PATIENCE_S) == 0
    takes_s = time.monotonic() - began
    expected = content(folder / "undisturbed")
    done, failed, differ, images, left = 0, 0, 0, 0, 0
    number = 0
    while done < kills:
        number += 1
        into, from_ = folder / f"felt{number}", (source, folder / "source.zip")[number % 2]
        while True:
            process = start(from_, into)
            try:
                limit_s = chance.uniform(0.25, 1.0) * takes_s if done < kills else PATIENCE_S
                failed += process.wait(limit_s) != 0
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done += 1
        # What a kill leaves is taken away by an import that begins a minute later.
        for path in (*into.rglob("*.part"), *into.glob(".unpacked-*")):
            os.utime(path, (wall, wall))
        failed += start(from_, into).wait(PATIENCE_S) != 0
        found = content(into)
        images += len(found) - 1
        differ += sum(found.get(key) != value for key, value in expected.items())
        left += len(leftovers(into))
    return {
        "kills": done, "imports": number, "images": images, "failed": failed,
        "lost": number * IMAGES - images, "differ": differ, "left_over": left,
    }  # fmt: skip


# Reviewing


def kill_reviewing(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill the server of the review page while a client saves; compare with a run without kills."""
    saves = SAVES_A_KILL * kills
    calm = make_dataset(folder / "calm" / "cards", 6)
    server = start_server(calm)
    _save_all(server.address, saves, 0, lambda _: None)
    server.kill()
    hit = make_dataset(folder / "hit" / "cards", 6)
    done = saved = unanswered = 0
    acknowledged: list[int] = []
    while saved < saves:
        server = start_server(hit)
        if done < kills:
            threading.Timer(chance.uniform(0.05, 1.2), server.process.kill).start()
        try:
            saved = _save_all(server.address, saves, saved, acknowledged.append)
        except httpx.TransportError:
            done += 1
            before = saved = acknowledged[-1] + 1 if acknowledged else 0
            # What was under way is there or is not, and is not done again where it is.
            saved += _is_saved(hit, saved)
            unanswered += saved - before
        server.kill()
    found, expected = _histories(hit), _histories(calm)
    return {
        "kills": done, "saves": saves, "saved_without_an_answer": unanswered,
        "lost": max(0, sum(map(len, expected.values())) - sum(map(len, found.values()))),
        "differ": sum(found[key] != value for key, value in expected.items()),
    }  # fmt: skip


def _change(number: int) -> tuple[int, str, dict[str, Any]]:
    """Save `number`: the image, what is changed, and how. Every third confirms the one before."""
    image = 1 + (number // 3) % 6
    if number % 3 == 2:
        return image, "confirmation", {"confirmed": True}
    x = 10.0 + number % 400
    box = {"label": "AS", "x0": x, "y0": 20.0, "x1": x + 50.0, "y1": 90.0, "attributes": {}}
    return image, "boxes", {"boxes": [box]}


def _save_all(address: str, saves: int, first: int, note: Callable[[int], None]) -> int:
    """Make the saves from `first` on; `note` is called with each that was answered."""
    with httpx.Client(base_url=address, timeout=60.0, headers={"x-feltwatch": "1"}) as client:
        for number in range(first, saves):
            image, what, change = _change(number)
            path = f"/api/datasets/cards/pictures/{image}"
            revision = client.get(path).raise_for_status().json()["revision"]
            client.put(f"{path}/{what}", json={**change, "revision": revision}).raise_for_status()
            note(number)
    return saves


def _is_saved(folder: Path, number: int) -> bool:
    """Whether save `number` is in the dataset."""
    image = _change(number)[0]
    mine = sum(_change(n)[0] == image for n in range(number))
    with Dataset.open(folder) as dataset:
        return len(dataset.history(image)) > mine + _made(dataset, image)


def _made(dataset: Dataset, image: int) -> int:
    """Changes that an image came with."""
    return sum(not change.by.startswith("person:") for change in dataset.history(image))


def _histories(folder: Path) -> dict[int, list[Any]]:
    with Dataset.open(folder) as dataset:
        found = {}
        for one in dataset.pictures():
            changes = dataset.history(one.id)
            history = [(c.revision, c.by, c.what, c.before) for c in changes]
            found[one.id] = [*history, (one.revision, "", "now", dataset.boxes(one.id))]
        return found


# Saving


@contextmanager
def _judging(url: str, folder: Path, rounds: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [
            sys.executable, "-m", "tests.surveillance.web.room.verdicts_made",
            url, folder, str(rounds),
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def _verdict(alert_id: int) -> str:
    return ("confirmed", "rejected")[alert_id % 2]


def _judge_open(client: httpx.Client, answered: dict[int, str]) -> int:
    """Judge a page of open alerts; return how many there were."""
    rows = client.get("/api/alerts", params={"state": "open"}).raise_for_status().json()["alerts"]
    for row in rows:
        verdict = _verdict(row["id"])
        change = {"verdict": verdict, "after": 0}
        client.post(f"/api/alerts/{row['id']}/verdict", json=change).raise_for_status()
        assert row["id"] not in answered, "an alert that was judged is open again"
        answered[row["id"]] = verdict
    return len(rows)


def kill_saving(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill a server that stores rounds and verdicts, on SQLite and then on PostgreSQL."""
    half = kills // 2
    sqlite = _kill_saving(f"sqlite:///{folder}/a/data.sqlite", folder / "a", kills - half, chance)
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE saving")
        postgresql = _kill_saving(postgres.url(host, "saving"), folder / "b", half, chance)
    return {key: sqlite[key] + postgresql[key] for key in sqlite}


def _kill_saving(url: str, folder: Path, kills: int, chance: random.Random) -> dict[str, int]:
    folder.mkdir()
    rounds, done = ROUNDS_A_KILL * kills, 0
    answered: dict[int, str] = {}
    with Store.open(url) as store:
        accounts = Accounts(store)
        user, _ = accounts.administration.invite("ann", Role.REVIEWER)
        secret = accounts.tokens.make(user, "faults", Role.REVIEWER, None).secret
        while True:
            with _judging(url, folder, rounds) as (process, address), _client(secret) as client:
                client.base_url = address
                if done < kills:
                    threading.Timer(chance.uniform(0.05, 1.5), process.kill).start()
                try:
                    limit = time.monotonic() + PATIENCE_S
                    while done < kills or not _all_judged(store, rounds):
                        assert time.monotonic() < limit, "not all rounds come in"
                        if not _judge_open(client, answered):
                            time.sleep(0.02)
                    break
                except httpx.TransportError:
                    done += 1
        expected = record_made.undisturbed(folder, rounds)
        found = record_made.stored(store)
        alerts = _all_alerts(store)
        verdicts = {row.id: [v.verdict for v in store.alerts.verdicts(row.id)] for row in alerts}
        log = [row.target for row in _all_log(store)]
        return {
            "kills": done, "rounds": len(found), "alerts": len(alerts),
            "answered": len(answered),
            "lost": len(set(expected) - set(found)) + len(set(answered) - set(verdicts)),
            "differ": sum(found.get(key) != value for key, value in expected.items())
            + sum(own != [_verdict(id)] for id, own in verdicts.items()),
            "not_in_the_log": sum(log.count(f"alert {id}") != 1 for id in verdicts),
        }  # fmt: skip


def _client(secret: str) -> httpx.Client:
    return httpx.Client(timeout=60.0, headers={"authorization": f"Bearer {secret}"})


def _all_judged(store: Store, rounds: int) -> bool:
    alerts = _all_alerts(store)
    return len(alerts) == rounds - rounds // 3 and all(row.state != "open" for row in alerts)


def _all_alerts(store: Store) -> list[AlertRow]:
    rows: list[AlertRow] = []
    cursor = None
    while True:
        page = store.alerts.page(AlertFilter(), cursor, 200)
        rows += page.rows
        cursor = page.next
        if cursor is None:
            return rows


def _all_log(store: Store) -> Iterator[Any]:
    cursor = None
    while True:
        page = store.audit.page(AuditFilter(act="alert judged"), cursor, 200)
        yield from page.rows
        cursor = page.next
        if cursor is None:
            return
