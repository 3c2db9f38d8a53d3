"""What the scripts that write figures into pages of the documentation share: sections between markers, and tables."""

from __future__ import annotations

from collections.abc import Sequence


def with_section(page: str, name: str, text: str) -> str:
    """The page with `text` between the markers of `name`; raises ValueError for a page without them."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"expected {begin} and {end} in the page")
    return f"{before}{begin}\n{text}\n{end}{after}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
