"""Fixtures that several packages' tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from renderer import BlenderPool

# As the command line does; read when torch loads its OpenMP, which no import above does.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium that keeps a record of its console and its requests; 1200×900 until a test changes that."""
    if not (BROWSER and DRIVER):
        pytest.skip("chromium and chromedriver are not installed (make test installs them as root on Debian)")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*BROWSER_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        yield driver
        driver.quit()


@pytest.fixture(scope="session")
def pool() -> Iterator[BlenderPool]:
    """One Blender pool for the whole session: a start costs a second, a small render a few milliseconds."""
    with BlenderPool(jobs=2) as blender:
        yield blender
