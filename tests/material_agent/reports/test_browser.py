"""The report in a real browser."""

import pytest
from run_folder import make_run

from material_agent.reports import write_report

SECTIONS = ["comparison", "scores", "attempts", "reflections", "ledger", "reproduce"]


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = write_report(make_run(tmp_path_factory.mktemp("run")))
    browser.get("about:blank")
    for name in ("performance", "browser"):
        browser.get_log(name)  # reading empties it: what the browser's own start page did is not ours
    browser.get(path.as_uri())
    return browser


def test_it_loads_without_a_complaint_and_asks_for_nothing(page):
    import json

    requests = [
        message["params"]["request"]["url"]
        for entry in page.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert sum(url.startswith("file:") for url in requests) == 1
    assert page.get_log("browser") == []
    assert page.execute_script("return typeof window.hacked") == "undefined"


def test_every_section_is_there_and_has_a_height(page):
    script = "return [...document.querySelectorAll('main > section')].map(s => [s.id, s.offsetHeight])"
    heights = page.execute_script(script)
    assert [name for name, _ in heights] == SECTIONS
    assert all(height > 60 for _, height in heights)


def test_every_picture_decodes(page):
    widths = page.execute_script(
        "const all = [...document.querySelectorAll('main img')];"
        "await Promise.all(all.map(i => { i.loading = 'eager'; return i.decode(); }));"
        "return all.map(i => i.naturalWidth);"
    )
    assert len(widths) > 20
    assert min(widths) > 0


def test_the_slider_moves_the_cut(page):
    script = (
        "const range = document.querySelector('#slider input'); range.value = arguments[0];"
        "range.dispatchEvent(new Event('input'));"
        "return getComputedStyle(document.querySelector('#slider .over')).clipPath;"
    )
    assert page.execute_script(script, 10) != page.execute_script(script, 90)


def test_a_thumbnail_opens_large_and_closes(page):
    state = "return document.querySelector('dialog').open"
    page.execute_script("document.querySelector('.strip img').click()")
    assert page.execute_script(state) is True
    page.execute_script("document.querySelector('dialog').click()")
    assert page.execute_script(state) is False


@pytest.mark.parametrize("width", [1200, 500])
def test_nothing_runs_out_of_the_page(page, width):
    page.set_window_size(width, 900)
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    overflow = page.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0


def test_dark_and_light_differ_and_are_legible(page):
    def contrast(scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        paper, ink = (
            [int(part) / 255 for part in text[text.index("(") + 1 : -1].split(",")[:3]]
            for text in page.execute_script(
                "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
            )
        )
        light, dark = sorted((relative_luminance(paper), relative_luminance(ink)), reverse=True)
        return paper, (light + 0.05) / (dark + 0.05)

    (light_paper, light_contrast), (dark_paper, dark_contrast) = contrast("light"), contrast("dark")
    assert sum(light_paper) > 2.5
    assert sum(dark_paper) < 0.5
    assert min(light_contrast, dark_contrast) > 7  # WCAG level AAA


def relative_luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
