"""The gallery of a batch: one page with every reference beside its material, to be sorted and filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment

from material_agent.reports.pages import page_environment

_TERMS = ("structure", "appearance", "physical", "compile", "budget")
_STATUS = {"accepted": "accepted", "not_accepted": "not accepted", "failed": "failed", "pending": "to do"}
_KINDS = {
    "reference": "the picture cannot be used",
    "input": "the input cannot be used",
    "environment": "something is not installed",
    "system": "the system refused",
    "crash": "its process ended",
    "time_limit": "its time ran out",
    "internal": "a fault of material-agent",
}


def gallery_html(rows: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> str:
    """The page for the rows of a summary; pictures and reports are linked relative to it, nothing else is fetched."""
    cards = [_card(row) for row in rows]
    rewards = sorted(row["reward"] for row in rows if row.get("reward") is not None)
    return (
        _environment()
        .get_template("gallery.html.j2")
        .render(
            cards=cards,
            counts=counts,
            statuses=_STATUS,
            terms=_TERMS,
            reasons=Counter(reason for card in cards for reason in card["reasons"]).most_common(),
            structures=Counter(card["structure"] for card in cards if card["structure"]).most_common(),
            median=rewards[len(rewards) // 2] if rewards else None,
        )
    )


def reasons(row: Mapping[str, Any]) -> list[str]:
    """What keeps a material from being accepted, in words that many share: for filters."""
    if row["status"] == "failed":
        return [_KINDS.get(row.get("kind", ""), "no result")]
    if row["status"] != "not_accepted":
        return []
    found = []
    for failure in row.get("failures") or [row.get("reason", "")]:
        term, colon, _ = str(failure).partition(":")
        known = colon and term in _TERMS
        found.append(f"{term} below its threshold" if known and term != "compile" else _plain(str(failure), known))
    return list(dict.fromkeys(found))


def _plain(failure: str, known: object) -> str:
    return "does not compile" if known else failure[:80] or "not accepted"


def _card(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with what the page needs; fields that a row of an unusable input lacks are empty."""
    card: dict[str, Any] = dict.fromkeys(("reward", "reseeded", *_TERMS)) | {"structure": "", "reason": "", "nodes": 0}
    card |= {name: value for name, value in row.items() if name != "structure"}
    # The name of the structure that was built, not the term of the same name.
    card["structure"] = row.get("built", "")
    card["terms"] = {name: row.get(name) for name in _TERMS}
    card["reasons"] = reasons(row)
    for link in ("report", "reference", "render"):
        card[link] = quote(str(row.get(link, "")))
    return card


@cache
def _environment() -> Environment:
    environment = page_environment("material_agent.batch")
    environment.filters["figure"] = lambda value: "–" if value is None else f"{value:.3f}"
    return environment
