"""Weights and thresholds of the evaluator, fitted on materials of known truth."""

__all__: list[str] = []
