"""The API of the room: tables, alerts, verdicts, rounds, reports, roles."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from settlement.record import Undecided
from surveillance.store import AuditFilter
from tests.surveillance.web.room_made import (
    CAMERA,
    CLIP_START_S,
    MadeRoom,
    acts,
    asking,
    first_alert,
)


def test_tables_list_what_lies_there_and_what_is_due(ann: TestClient, room: MadeRoom) -> None:
    (line,) = ann.get("/api/tables").json()
    assert (line["camera"], line["table"], line["state"], line["words"]) == (
        CAMERA, "t1", "running", "Watching",
    )  # fmt: skip
    assert line["open_alerts"] == len(room.store.alerts.page().rows) == 4
    assert line["last_round"]["round_id"] == "t1-000005"
    dealer, seat = line["seats"]
    # Without a site file no table file is known, so nothing is said to be due.
    assert dealer["seat"] is None
    assert seat["due"] == []
    assert seat["stakes"] == {"main": 2500}
    form = ann.get(f"/api/tables/{CAMERA}").json()
    assert [r["round_id"] for r in form["rounds"]] == [f"t1-00000{n}" for n in (5, 4, 3, 2, 1)]
    assert ann.get("/api/tables/nowhere").status_code == 404


def test_what_is_due_now_is_settled_by_the_tables_rules(room: MadeRoom) -> None:
    from surveillance.web.services.due_now import seats_now

    state = room.bus.state(CAMERA)
    assert state is not None
    seats = state.model_dump(mode="json")["seats"]
    (dealer, seat), way = seats_now(seats, room.table.rules, "t1")
    main = next(due for due in seat.due if due.wager == "main")
    assert (main.words, main.outcome, seat.result) == ("pay $25", "win", "win")
    assert main.rule.startswith("002")
    assert dealer.high_name.startswith("pair of nines")
    assert way is not None
    assert way.kind in ("ok", "high")
    # A hand of which only a part is read is not guessed at.
    seats[1]["high"] = seats[1]["high"][:3]
    (_, partly), _ = seats_now(seats, room.table.rules, "t1")
    assert partly.result == ""
    assert all(due.outcome is None for due in partly.due if due.wager == "main")


def test_a_table_says_how_much_of_the_time_was_watched(ann: TestClient, room: MadeRoom) -> None:
    line = ann.get(f"/api/tables/{CAMERA}").json()["line"]
    assert line["coverage"] == {
        "seen_s": 1800.0, "skipped_s": 12.4, "hidden_s": {"3": 180.0, "dealer": 450.0},
    }  # fmt: skip


def test_live_images_are_logged_once_a_while(ann: TestClient, room: MadeRoom) -> None:
    plain = ann.get(f"/api/tables/{CAMERA}/picture")
    drawn = ann.get(f"/api/tables/{CAMERA}/picture", params={"overlay": 1})
    assert plain.headers["content-type"] == "image/jpeg"
    assert plain.content != drawn.content
    assert acts(room).count("live picture seen") == 1
    assert ann.get("/api/tables/nowhere/picture").status_code == 404


def test_alerts_come_newest_first_in_pages_and_by_filter(ann: TestClient) -> None:
    first = ann.get("/api/alerts", params={"limit": 3}).json()
    second = ann.get("/api/alerts", params={"limit": 3, "cursor": first["next"]}).json()
    ids = [a["alert_id"] for a in first["alerts"] + second["alerts"]]
    assert ids == ["t1-000005-01", "t1-000004-01", "t1-000003-01", "t1-000002-01"]
    assert second["next"] is None
    over = ann.get("/api/alerts", params={"code": "OVERPAID"}).json()["alerts"]
    assert [a["alert_id"] for a in over] == ["t1-000004-01", "t1-000002-01"]
    assert ann.get("/api/alerts", params={"seat": 4}).json()["alerts"] == []
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert ann.get("/api/alerts", params={"since": soon}).json()["alerts"] == []
    assert ann.get("/api/alerts", params={"cursor": "nonsense"}).status_code == 422
    assert ann.get("/api/alerts", params={"state": "lost"}).status_code == 422


def test_an_alert_brings_evidence_hands_and_the_moment(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann, code="OVERPAID")
    form = ann.get(f"/api/alerts/{line['id']}").json()
    assert form["seen"] == "paid $35.00"
    assert form["due"] == "$25.00"
    assert form["rule"].startswith("002")
    roles = {p["role"]: p["moment"] for p in form["pictures"] if p["role"]}
    assert roles == {"before": "bets", "after": "settled"}
    seat = form["hands"]["seats"][0]
    assert (seat["low"]["cards"], seat["result"]) == (["AH", "KD"], "win")
    main = next(w for w in seat["wagers"] if w["wager"] == "main")
    assert (main["done"], main["due"], main["kind"]) == ("paid $35", "pay $25", "high")
    assert form["clip"]["is_known"]
    # The last frame that shows it is at 1.6 s of the stream.
    assert form["clip"]["moment_s"] == pytest.approx(1.6 - CLIP_START_S)
    assert "alert seen" in acts(room)
    assert ann.get("/api/alerts/999").status_code == 404


def test_every_verdict_is_kept_and_the_last_counts(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann, code="OVERPAID")
    url = f"/api/alerts/{line['id']}/verdict"
    heard = room.bus.subscribe()
    first = ann.post(url, json={"verdict": "rejected", "comment": "$25 lay there", "after": 0})
    assert first.status_code == 200, first.text
    assert first.json()["line"]["state"] == "rejected"
    again = ann.post(
        url, json={"verdict": "corrected", "corrected": {"seen": "paid $30.00", "seat": 0}}
    )
    form = again.json()
    assert form["line"]["state"] == "corrected"
    assert [(v["verdict"], v["by"]) for v in form["verdicts"]] == [
        ("rejected", "ann"), ("corrected", "ann"),
    ]  # fmt: skip
    assert form["verdicts"][1]["corrected"] == {"seen": "paid $30.00", "seat": None}
    event = heard.get(5)
    assert event is not None
    assert (event.kind, event.body["id"], event.body["state"]) == (
        "alert_changed", line["id"], "rejected",
    )  # fmt: skip
    judged = room.store.audit.page(AuditFilter(act="alert judged"), None, 9).rows
    assert [r.by for r in judged] == ["ann", "ann"]
    assert judged[-1].detail["comment"] == "$25 lay there"
    precision = {p["code"]: p for p in ann.get("/api/precision").json()}
    assert precision["OVERPAID"]["corrected"] == 1
    assert precision["OVERPAID"]["precision"] == 1.0
    assert 0 < precision["OVERPAID"]["low"] < 0.5


def test_anothers_verdict_is_not_overruled_unseen(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann)
    room.store.alerts.judge(int(str(line["id"])), "confirmed", "", "bob")
    answer = ann.post(f"/api/alerts/{line['id']}/verdict", json={"verdict": "rejected", "after": 0})
    assert answer.status_code == 409
    assert "bob confirmed this alert meanwhile" in answer.json()["detail"]
    assert room.store.alerts.get(int(str(line["id"]))).state == "confirmed"


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "open"},
        {"verdict": "corrected"},
        {"verdict": "confirmed", "corrected": {"seen": "x"}},
        {"verdict": "corrected", "corrected": {"table": "x"}},
        {"verdict": "rejected", "comment": "x" * 3_000},
    ],
)
def test_a_verdict_that_says_nothing_is_refused(ann: TestClient, wrong: dict[str, object]) -> None:
    line = first_alert(ann)
    assert ann.post(f"/api/alerts/{line['id']}/verdict", json=wrong).status_code == 422


def test_a_viewer_reads_and_does_not_judge(room: MadeRoom) -> None:
    with asking(room, "vic") as vic:
        line = first_alert(vic)
        assert vic.get(f"/api/alerts/{line['id']}").status_code == 200
        for path, body in (
            (f"/api/alerts/{line['id']}/verdict", {"verdict": "confirmed"}),
            (f"/api/alerts/{line['id']}/case", {"case": True}),
            (f"/api/tables/{CAMERA}/dealer", {"name": "Eve"}),
        ):
            assert vic.post(path, json=body).status_code == 403
        assert room.store.alerts.counts()["open"] == 4


def test_a_case_is_kept(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann)
    url = f"/api/alerts/{line['id']}/case"
    assert ann.post(url, json={"case": True}).json()["line"]["case"]
    cases = ann.get("/api/alerts", params={"case": True}).json()["alerts"]
    assert [a["id"] for a in cases] == [line["id"]]
    assert not ann.post(url, json={"case": False}).json()["line"]["case"]
    assert {"case kept", "case let go"} <= set(acts(room))


def test_the_dealer_is_named(ann: TestClient, room: MadeRoom) -> None:
    line = ann.post(f"/api/tables/{CAMERA}/dealer", json={"name": " Lee "}).json()
    assert line["dealer"] == "Lee"
    assert room.store.dealers.current("t1") == "Lee"
    assert ann.post(f"/api/tables/{CAMERA}/dealer", json={"name": ""}).json()["dealer"] is None
    assert ann.get(f"/api/tables/{CAMERA}").json()["dealers"] == ["Lee"]


def test_rounds_in_pages_and_one_with_its_rules(ann: TestClient) -> None:
    page = ann.get("/api/rounds", params={"limit": 2}).json()
    assert [r["round_id"] for r in page["rounds"]] == ["t1-000005", "t1-000004"]
    fine = ann.get("/api/rounds", params={"with_alerts": False}).json()["rounds"]
    assert [(r["round_id"], r["kind"]) for r in fine] == [("t1-000001", "ok")]
    form = ann.get(f"/api/rounds/{page['rounds'][0]['id']}").json()
    (alert,) = form["alerts"]
    assert alert["code"] == "UNDERPAID"
    main = form["hands"]["seats"][0]["wagers"][0]
    assert main["rule"].startswith("002")
    assert form["record"]["round_id"] == "t1-000005"
    assert ann.get("/api/rounds/999").status_code == 404


def test_what_is_worth_a_look_is_listed_and_no_alert(ann: TestClient, room: MadeRoom) -> None:
    assert ann.get("/api/rounds", params={"with_suspicions": True}).json()["rounds"] == []
    room.add_doubtful_round(6)
    (line,) = ann.get("/api/rounds", params={"with_suspicions": True}).json()["rounds"]
    assert (line["round_id"], line["suspicions"], line["alerts"]) == ("t1-000006", 1, 0)
    assert line["kind"] == "undecided"
    (one,) = ann.get(f"/api/rounds/{line['id']}").json()["suspicions"]
    assert (one["code"], one["title"], one["seat"]) == ("OVERPAID", "Paid too much", 3)
    assert one["message"].startswith("Perhaps (88%): Seat 3, main bet: paid $30.00, due $25.00")
    fine = ann.get("/api/rounds", params={"with_suspicions": False}).json()["rounds"]
    assert len(fine) == 5


def wide_span() -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        "since": (now - timedelta(hours=12)).isoformat(),
        "until": (now + timedelta(minutes=1)).isoformat(),
    }


def test_the_report_counts_money_verdicts_and_cameras(ann: TestClient, room: MadeRoom) -> None:
    now = datetime.now(UTC)
    for minutes, state in ((90, "running"), (30, "stalled"), (15, "running")):
        room.store.health.note(CAMERA, state, "", now - timedelta(minutes=minutes))
    # An incident is no state of the camera: it is counted, not timed.
    room.store.health.note(CAMERA, "dark", "the picture is dark", now, "began")
    for line in ann.get("/api/alerts", params={"code": "OVERPAID"}).json()["alerts"]:
        ann.post(f"/api/alerts/{line['id']}/verdict", json={"verdict": "confirmed"})
    report = ann.get("/api/report", params=wide_span()).json()
    assert (report["rounds"], report["rounds_with_alerts"]) == (5, 4)
    assert report["alerts"] == {"open": 2, "confirmed": 2, "rejected": 0, "corrected": 0}
    money = {line["state"]: line for line in report["money"]}
    # $30 and $35 were paid for $25; $20 and $5 as well.
    assert money["confirmed"]["to_players_cents"] == 500 + 1_000
    assert money["open"]["to_house_cents"] == 500 + 2_000
    assert money["open"]["net_cents"] == -2_500
    assert [(g["name"], g["rounds"], g["total"]) for g in report["dealers"]] == [("Maria", 5, 4)]
    assert [g["name"] for g in report["seats"]] == ["seat 3"]
    assert [(r["name"], r["confirmed"]) for r in report["reviewers"]] == [("ann", 2)]
    (camera,) = report["cameras"]
    assert camera["watched_share"] == pytest.approx(75 / 90, abs=0.02)
    assert (camera["changes"], camera["incidents"]) == (3, 1)
    assert len(report["notable"]) == 2
    elsewhere = ann.get("/api/report", params=wide_span() | {"table": "t2"}).json()
    assert (elsewhere["rounds"], elsewhere["alerts"]["open"]) == (0, 0)


def test_the_report_as_csv_and_pdf(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann)
    room.store.dealers.set("t1", "=1+1", datetime.now(UTC), "ann")
    room.add_round(6, 3000, dealer="=cmd()")
    ann.post(f"/api/alerts/{line['id']}/verdict", json={"verdict": "confirmed"})
    answer = ann.get("/api/report", params=wide_span() | {"format": "csv"})
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0] == ["section", "name", "measure", "value", "to player too much, cents"]
    assert ["rounds", "all", "rounds", "6", ""] in rows
    (upheld,) = [row for row in rows if row[0] == "alert"]
    assert upheld[1].endswith(f" no. {line['id']}")
    assert upheld[2:4] == [f"{line['code']} confirmed", line["message"]]
    assert int(upheld[4]) == room.store.alerts.get(int(str(line["id"]))).difference_cents
    # What a spreadsheet would run as a formula is text.
    assert any(row[:2] == ["dealer", "'=cmd()"] for row in rows)
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    pdf = ann.get("/api/report", params=wide_span() | {"format": "pdf", "zone": "Europe/Rome"})
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF")
    assert len(pdf.content) > 3_000
    assert acts(room).count("report made") == 2


def test_alerts_of_a_report_come_by_the_page(ann: TestClient, room: MadeRoom) -> None:
    ids = [row.id for row in room.store.alerts.page().rows]
    for id in ids[:3]:
        ann.post(f"/api/alerts/{id}/verdict", json={"verdict": "confirmed"})
    first = ann.get("/api/report/alerts", params=wide_span() | {"limit": "2"}).json()
    assert [line["id"] for line in first["alerts"]] == ids[:2]
    assert all("difference_cents" in line for line in first["alerts"])
    rest = ann.get(
        "/api/report/alerts", params=wide_span() | {"limit": "2", "cursor": first["next"]}
    ).json()
    assert [line["id"] for line in rest["alerts"]] == ids[2:3]
    assert rest["next"] is None
    elsewhere = ann.get("/api/report/alerts", params=wide_span() | {"table": "t2"}).json()
    assert elsewhere == {"alerts": [], "next": None}
    wrong = wide_span() | {"until": "2020-01-01T00:00:00Z"}
    assert ann.get("/api/report/alerts", params=wrong).status_code == 422


def test_what_was_not_read_is_counted_by_table_seat_and_cause(
    ann: TestClient, room: MadeRoom
) -> None:
    before = ann.get("/api/alerts/counts").json()
    (played,) = ann.get("/api/reading", params=wide_span()).json()["tables"]
    hidden = tuple(
        Undecided(seat=3, what=f"high[{n}]", why=f"read as {card} with a share of 0.{n}1 only")
        for n, card in enumerate(("7C", "KH"))
    )
    for number in (31, 32):
        _, alerts = room.add_round(number, undecided=hidden)
        assert alerts == []
    assert ann.get("/api/alerts/counts").json() == before
    answer = ann.get("/api/reading", params=wide_span()).json()
    rounds = played["rounds"] + 2
    at = {"table": "t1", "rounds": rounds, "unread": 2, "share": round(2 / rounds, 6)}
    assert answer["tables"] == [{**at, "seat": None}]
    assert answer["seats"] == [{**at, "seat": 3}]
    cause = "read as … with a share of … only"
    assert answer["causes"] == [{**at, "seat": 3, "part": "card", "cause": cause, "things": 4}]
    elsewhere = ann.get("/api/reading", params=wide_span() | {"table": "t2"}).json()
    assert elsewhere["tables"] == elsewhere["causes"] == []
    wrong = wide_span() | {"until": "2020-01-01T00:00:00Z"}
    assert ann.get("/api/reading", params=wrong).status_code == 422


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
        {"since": "2020-01-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
        {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "zone": "../etc"},
        {"since": "yesterday", "until": "2026-01-01T00:00:00Z"},
    ],
)
def test_a_report_that_cannot_be_is_refused(ann: TestClient, wrong: dict[str, str]) -> None:
    assert ann.get("/api/report", params=wrong).status_code == 422


def test_pages_need_a_login_and_log_who_viewed(room: MadeRoom) -> None:
    with asking(room, None) as stranger:
        for path in ("/", "/alerts", "/rounds", "/reports", "/reading", f"/tables/view/{CAMERA}"):
            answer = stranger.get(path, follow_redirects=False)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/login?next=")
    with asking(room, "vic") as vic:
        for path in (
            "/",
            "/alerts",
            "/rounds",
            "/rounds/1",
            "/reports",
            "/reading",
            f"/tables/view/{CAMERA}",
        ):
            answer = vic.get(path)
            assert answer.status_code == 200, path
            assert "vic" in answer.text
        assert "People" not in vic.get("/").text
    assert {"wall seen", "table seen", "round seen"} <= set(acts(room))


def test_every_route_of_the_room_says_its_role(room: MadeRoom) -> None:
    with asking(room, "root") as root:
        paths = root.get("/api/openapi.json").json()["paths"]
    roles = {
        (path, method): operation.get("x-feltwatch-role")
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
    assert roles["/api/alerts/{id}/verdict", "post"] == "reviewer"
    assert roles["/api/alerts/{id}/case", "post"] == "reviewer"
    assert roles["/api/tables/{camera}/dealer", "post"] == "reviewer"
    for path in (
        "/api/tables",
        "/api/alerts",
        "/api/rounds",
        "/api/report",
        "/api/reading",
        "/api/events",
    ):
        assert roles[path, "get"] == "viewer"
