"""What this machine has and lacks for the agent."""

from __future__ import annotations

from material_agent.doctor.checks import Check, examine

__all__ = ["Check", "examine"]
