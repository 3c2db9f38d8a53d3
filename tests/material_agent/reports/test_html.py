import re

import pytest
from run_folder import HOSTILE, make_run

from material_agent.errors import BadInput
from material_agent.reports import report_html, write_report
from material_agent.reports.html import phrase


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return report_html(make_run(tmp_path_factory.mktemp("run")))


def test_nothing_from_the_run_becomes_markup(page):
    assert HOSTILE not in page
    assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in page
    assert page.count("<script>") == 1


def test_it_needs_nothing_else(page):
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert "default-src 'none'" in page


def test_the_outcome_is_said_as_it_is(page, tmp_path):
    assert "Not accepted." in page
    assert "the attempt limit of 2 was reached" in page
    assert "No end recorded." in report_html(make_run(tmp_path, ended=False))


def test_four_fields_and_what_came_of_them(page):
    for field in ("evidence", "scale", "graph change", "forbidden"):
        assert f"<dt>{field}</dt>" in page
    assert "the change was made, the ban was kept; reward 0.580 → 0.660, so it helped" in page


def test_it_can_be_rebuilt_and_stays_the_same(tmp_path):
    folder = make_run(tmp_path)
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first
    assert not list(folder.glob("*.partial"))


def test_a_lost_picture_leaves_a_mark_and_not_a_hole(tmp_path):
    folder = make_run(tmp_path)
    (folder / "attempts/2/a2.o6-height.png").unlink()
    (folder / "attempts/2/a2.o6-normal.png").write_bytes(b"no picture")
    (folder / "reference.png").unlink()
    page = report_html(folder)
    assert page.count("no picture</span>") == 4  # two channels, each in the attempt's strip and at its step
    assert "The reference is not in the run folder" in page


def test_a_log_cannot_pull_in_files_from_elsewhere(tmp_path):
    folder = make_run(tmp_path / "run")
    secret = tmp_path / "secret.png"
    secret.write_bytes((folder / "reference.png").read_bytes())
    log = folder / "events.jsonl"
    log.write_text(log.read_text().replace("attempts/2/a2.o6-height.png", "../secret.png"))
    assert report_html(folder).count("no picture</span>") == 2


@pytest.mark.parametrize("content", [None, "", "{}\n{}\n"])
def test_what_is_no_run_is_refused_in_one_line(tmp_path, content):
    if content is not None:
        (tmp_path / "events.jsonl").write_text(content)
    with pytest.raises(BadInput) as caught:
        report_html(tmp_path)
    assert "\n" not in str(caught.value)


def test_phrase_leaves_out_what_is_empty():
    assert phrase({"a": 0.12345, "b": "", "c": None, "d": [1, 2], "e": False}) == "a: 0.1235, d: 1; 2, e: False"
