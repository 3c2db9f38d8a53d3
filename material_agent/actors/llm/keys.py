"""API keys: from the environment or the system's keyring, and out of everything that is written."""

from __future__ import annotations

import os
from collections.abc import Callable

from material_agent.actors.models import ModelSpec

SERVICE = "material-agent"
OWN_VARIABLE = "MATERIAL_AGENT_API_KEY"
HIDDEN = "[key]"
_SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_ACCESS_KEY")
_SHORTEST = 8


def find_key(spec: ModelSpec) -> str | None:
    """The key for a model, or None.

    For a provider's own server: `PROVIDER_API_KEY`, then the keyring's entry of the service "material-agent" for the
    provider. For a base URL: `MATERIAL_AGENT_API_KEY`, then the keyring's entry for the URL's host. A provider's key is
    never sent to another server.
    """
    variable = OWN_VARIABLE if spec.base_url else f"{spec.provider.upper().replace('-', '_')}_API_KEY"
    return os.environ.get(variable) or _from_keyring(spec.host if spec.base_url else spec.provider)


def _from_keyring(name: str) -> str | None:
    import keyring  # noqa: PLC0415 - looks for a backend when it is loaded
    from keyring.errors import KeyringError  # noqa: PLC0415

    try:
        return keyring.get_password(SERVICE, name)
    except KeyringError:  # none on this machine, or locked
        return None


def redactor(key: str | None) -> Callable[[str], str]:
    """A function that replaces the key, and every secret of the environment, wherever it stands in a text."""
    secrets = {value for name, value in os.environ.items() if name.upper().endswith(_SECRET_ENDINGS)}
    ordered = sorted((value for value in (*secrets, key) if value and len(value) >= _SHORTEST), key=len, reverse=True)

    def redact(text: str) -> str:
        for secret in ordered:
            text = text.replace(secret, HIDDEN)
        return text

    return redact
