"""Pictures with a known period, offset, angle, slope or region: the ground truth of the estimators' tests."""

import numpy as np


def rotated(shape, angle_rad):
    """x and y of pixel centres in axes turned counter-clockwise (as seen) by an angle; y points up."""
    row, column = np.indices(shape) + 0.5
    x, y = column, shape[0] - row
    return x * np.cos(angle_rad) + y * np.sin(angle_rad), -x * np.sin(angle_rad) + y * np.cos(angle_rad)


def bricks(side, width, height, offset=0.5, joint=3.0, angle_rad=0.0, seed=0, spread=0.08):
    """Bricks with light joints, each brick of its own tone."""
    rng = np.random.default_rng(seed)
    x, y = rotated((side, side), angle_rad)
    row = np.floor(y / height).astype(int)
    shifted = x / width + offset * row
    column = np.floor(shifted).astype(int)
    tone = rng.normal(0.4, spread, (512, 512))[row % 512, column % 512]
    in_joint = ((y / height - row) * height < joint) | ((shifted - column) * width < joint)
    return np.clip(np.where(in_joint, 0.8, tone) + rng.normal(0, 0.02, (side, side)), 0, 1).astype(np.float32)


def checkerboard(side, square, seed=0):
    """Two tones in squares."""
    row, column = np.indices((side, side)) + 0.5
    even = (np.floor(row / square) + np.floor(column / square)) % 2
    noise = np.random.default_rng(seed).normal(0, 0.02, (side, side))
    return np.clip(0.3 + 0.4 * even + noise, 0, 1).astype(np.float32)


def fractal(side, beta, seed=0, contrast=0.1):
    """Gaussian noise whose power falls as f^−beta."""
    rng = np.random.default_rng(seed)
    radius = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]) * side
    radius[0, 0] = 1
    spectrum = np.fft.rfft2(rng.normal(size=(side, side))) * radius ** (-beta / 2)
    spectrum[0, 0] = 0
    field = np.fft.irfft2(spectrum, (side, side))
    return np.clip(0.5 + contrast * field / field.std(), 0, 1).astype(np.float32)


def grating(side, period, angle_rad):
    """A wave whose crests run along the angle."""
    _, across = rotated((side, side), angle_rad)
    return (0.5 + 0.3 * np.sin(2 * np.pi * across / period)).astype(np.float32)


def gray_to_rgb(luma):
    """Three equal channels."""
    return np.repeat(luma[..., None], 3, axis=2).astype(np.float32)
