"""Data of the calibration."""

__all__: list[str] = []
