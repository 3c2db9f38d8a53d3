"""Fixtures of the language models' tests: no key, URL or proxy of the machine reaches them."""

from __future__ import annotations

import os

import pytest
from model_server import KEY


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().endswith(("_API_KEY", "_BASE_URL", "_PROXY")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MATERIAL_AGENT_API_KEY", KEY)
