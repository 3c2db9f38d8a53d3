"""Metric functions: pure, over arrays, each in the module that bears its name."""

__all__: list[str] = []
