"""The score's differentiable part, in torch: spectrum by scale, steerable statistics, texture, colours and contrast.

Lattice, orientation, slope and energies are left out: they are found by searching or picking, not by formulas with a
useful slope. Values agree with the evaluator's own (a test compares them); only the colours are sorted unrounded.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evaluators.calibration import Calibration
from evaluators.components import CONTRAST_FLOOR, component_shares
from evaluators.errors import EvaluatorError
from evaluators.functional import spectrum, steerable
from evaluators.functional.color import D65, REC709_LUMA, RGB_TO_XYZ
from evaluators.functional.texture import BLOCK_WEIGHTS, STABILISER, DeepTexture
from evaluators.functional.transport import unit_directions
from evaluators.measure import (
    ANGULAR_BINS,
    COLOUR_SAMPLES,
    DEEP_HALVINGS,
    RADIAL_BINS,
    Measurement,
    deep_sides,
    ring_scale,
)
from evaluators.target import Target

if TYPE_CHECKING:
    import torch

_DIRECTIONS, _QUANTILES = 64, 256
_KNEE = 0.1


class SearchScore:
    """Scores of pictures of one size against one target, with gradients: `score(images)`.

    `components` are what it sees; their weights within the terms, and those of the terms, are the calibration's. Raises
    `EvaluatorError` for a size without a calibration, `WeightsUnavailableError` never: the network is passed.
    """

    def __init__(self, target: Target, calibration: Calibration, size: int, network: DeepTexture | None) -> None:
        rules = calibration.at(size).components
        own = target.self_distances(size, network)
        self._reference = target.measurement(size, network)
        self._network = network
        self.size = size
        self._rings = {f"spectrum_{scale}": rings for scale, rings in ring_scale(size).items() if len(rings)}
        seen = [*self._rings, "steerable", "palette", "contrast"]
        seen += [f"texture_{scale}" for scale in DEEP_HALVINGS] if network is not None else []
        self.components = tuple(name for name in seen if name in rules and rules[name].weight > 0)
        self._floors = {name: rules[name].floor(own[name]) for name in self.components}
        self._ceilings = {name: rules[name].ceiling for name in self.components}
        self._shares = component_shares(self.components, calibration.weights, rules)

    def score(self, images: torch.Tensor) -> torch.Tensor:
        """Scores (B,) in [0, 1] of sRGB pictures (B, S, S, 3) in [0, 1]; differentiable."""
        distances = self.distances(images)
        values = {name: _value(d, self._floors[name], self._ceilings[name]) for name, d in distances.items()}
        total: torch.Tensor = sum(self._shares[name] * value for name, value in values.items())  # type: ignore[assignment]
        return total

    def distances(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        """Distances (B,) by component, as `components.distances` has them."""
        import torch  # noqa: PLC0415

        if images.ndim != 4 or images.shape[1:] != (self.size, self.size, 3):
            raise EvaluatorError(f"pictures (B, {self.size}, {self.size}, 3)", f"shape {tuple(images.shape)}")
        reference = self._reference
        grey = images @ torch.from_numpy(REC709_LUMA)
        polar = (polar_log_power(grey) - torch.from_numpy(reference.polar)).abs()
        found = {name: polar[:, torch.from_numpy(rings)].mean(dim=(1, 2)) for name, rings in self._rings.items()}
        found["steerable"] = (steerable_vector(grey) - torch.from_numpy(reference.steerable)).abs().mean(dim=1)
        found["palette"] = (lab_quantiles(images) - torch.from_numpy(reference.lab_quantiles)).abs().mean(dim=(1, 2))
        spread = (grey.var(dim=(1, 2), correction=0) + 1e-12).sqrt()
        found["contrast"] = ((spread + CONTRAST_FLOOR) / (reference.contrast + CONTRAST_FLOOR)).log().abs()
        if self._network is not None:
            found |= _deep_distances(images, reference, self._network)
        return {name: found[name] for name in self.components}


def _value(distance: torch.Tensor, floor: float, ceiling: float) -> torch.Tensor:
    """`components.value_of`."""
    import torch  # noqa: PLC0415

    closed = 1 - (distance - floor) / max(ceiling - floor, 1e-9)
    far = _KNEE * torch.exp((closed.clamp(max=_KNEE) - _KNEE) / _KNEE)
    return torch.where(closed >= _KNEE, closed.clamp(max=1.0), far)


@lru_cache(maxsize=4)
def _polar_matrix(size: int) -> torch.Tensor:
    import torch  # noqa: PLC0415

    return torch.from_numpy(spectrum.polar_bins(size, size, RADIAL_BINS, ANGULAR_BINS).toarray())


def polar_log_power(grey: torch.Tensor) -> torch.Tensor:
    """`spectrum.polar_log_power` of luma (B, S, S): (B, 16, 8)."""
    import torch  # noqa: PLC0415

    size = grey.shape[-1]
    window = torch.from_numpy(spectrum.hann(size, size))
    mean = (grey * window).sum(dim=(-2, -1), keepdim=True) / window.sum()
    found = torch.fft.rfft2((grey - mean) * window)
    power = (found.real**2 + found.imag**2) * (spectrum.REFERENCE_PIXELS / size**2)
    binned = power.flatten(1) @ _polar_matrix(size).T
    logs: torch.Tensor = (binned + spectrum.POWER_FLOOR).log()
    return logs.reshape(-1, RADIAL_BINS, ANGULAR_BINS)


def lab_quantiles(images: torch.Tensor) -> torch.Tensor:
    """`transport.sliced_quantiles` of the Lab colours of pictures (B, S, S, 3): (B, 64, 256)."""
    import torch  # noqa: PLC0415

    step = max(1, int(np.ceil(images.shape[1] / np.sqrt(COLOUR_SAMPLES))))
    points = images[:, step // 2 :: step, step // 2 :: step].flatten(1, 2)
    # The powers' arguments are held off 0, where their slopes are infinite.
    curve = ((points.clamp(min=1e-3) + 0.055) / 1.055) ** 2.4
    linear = torch.where(points <= 0.04045, points / 12.92, curve)
    xyz = linear @ torch.from_numpy(RGB_TO_XYZ.T.copy()) / torch.from_numpy(D65)
    f = torch.where(xyz > 0.008856, xyz.clamp(min=1e-3) ** (1 / 3), 7.787 * xyz + 16 / 116)
    x, y, z = f.unbind(-1)
    lab = torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], dim=-1)
    ordered = (lab @ torch.from_numpy(unit_directions(_DIRECTIONS).T.copy())).transpose(1, 2).sort(dim=-1).values
    count = ordered.shape[-1]
    position = ((torch.arange(_QUANTILES) + 0.5) / _QUANTILES * count - 0.5).clamp(0, count - 1)
    low = position.floor().long()
    high, share = (low + 1).clamp(max=count - 1), position - low
    return ordered[..., low] * (1 - share) + ordered[..., high] * share


class _Masks(NamedTuple):
    high: torch.Tensor
    bands: tuple[torch.Tensor, ...]
    low: torch.Tensor


@lru_cache(maxsize=4)
def _masks(size: int) -> _Masks:
    import torch  # noqa: PLC0415

    found = steerable.masks(size)
    bands = tuple(torch.from_numpy(band) for band in found.bands)
    return _Masks(torch.from_numpy(found.high), bands, torch.from_numpy(found.low))


def steerable_vector(grey: torch.Tensor) -> torch.Tensor:
    """`steerable.steerable_statistics(grey).vector()` of luma (B, S, S): (B, 68)."""
    import torch  # noqa: PLC0415

    size = grey.shape[-1]
    centred = grey - grey.mean(dim=(-2, -1), keepdim=True)
    deviation = (centred.square().mean(dim=(-2, -1), keepdim=True) + 1e-12).sqrt()
    found = torch.fft.fftshift(torch.fft.fft2(centred / deviation.clamp(min=steerable.FLAT_STD)), dim=(-2, -1))
    masks = _masks(size)
    levels = [_to_picture(found[:, None], mask, size) for mask in masks.bands]
    high, low = (_to_picture(found, mask, size)[:, None].real for mask in (masks.high, masks.low))
    reals = [high, *(level.real for level in levels), low]
    energy = torch.cat([band.square().mean(dim=(-2, -1)) for band in reals], dim=1)
    neighbours = [torch.cat([_correlation(b, b.roll(1, dims=axis)) for b in reals], dim=1) for axis in (-1, -2)]
    magnitudes = [(level.real.square() + level.imag.square() + 1e-12).sqrt() for level in levels]
    pairs = list(itertools.combinations(range(steerable.ORIENTATIONS), 2))
    cross = [_correlation(m[:, i], m[:, j]) for m in magnitudes for i, j in pairs]
    for fine, coarse in itertools.pairwise(magnitudes):
        between = _correlation(torch.nn.functional.avg_pool2d(fine, 2), coarse)
        cross.extend(between.unbind(1))
    return torch.cat([(energy + steerable.ENERGY_FLOOR).log(), *neighbours, torch.stack(cross, dim=1)], dim=1)


def _to_picture(found: torch.Tensor, mask: torch.Tensor, size: int) -> torch.Tensor:
    import torch  # noqa: PLC0415

    crop = mask.shape[-1]
    start = (size - crop) // 2
    part = found[..., start : start + crop, start : start + crop] * mask
    picture: torch.Tensor = torch.fft.ifft2(torch.fft.ifftshift(part, dim=(-2, -1)))
    return picture * (crop / size) ** 2


def _correlation(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    import torch  # noqa: PLC0415

    a, b = (x - x.mean(dim=(-2, -1), keepdim=True) for x in (a, b))
    power = a.square().mean(dim=(-2, -1)) * b.square().mean(dim=(-2, -1))
    found = (a * b).mean(dim=(-2, -1)) / power.clamp(min=1e-16).sqrt()
    return torch.where(power > 1e-16, found, torch.zeros_like(found))


def _deep_distances(images: torch.Tensor, reference: Measurement, network: DeepTexture) -> dict[str, torch.Tensor]:
    import torch  # noqa: PLC0415

    found = {}
    for scale, side in deep_sides(images.shape[1]).items():
        small = _shrunk(images, images.shape[1] // side)
        total = torch.zeros(len(images))
        features = network.features(small.permute(0, 3, 1, 2))
        for weight, feature, wanted in zip(BLOCK_WEIGHTS, features, reference.deep[scale], strict=True):
            mean = feature.mean(dim=(2, 3))
            std = (feature.var(dim=(2, 3), correction=0) + 1e-12).sqrt()
            similar = _similarity(mean, torch.from_numpy(wanted.mean)) + _similarity(std, torch.from_numpy(wanted.std))
            total = total + weight * (1 - similar / 2)
        found[f"texture_{scale}"] = total
    return found


def _similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ((2 * a * b + STABILISER) / (a * a + b * b + STABILISER)).mean(dim=-1)


def _shrunk(images: torch.Tensor, factor: int) -> torch.Tensor:
    """Blocks averaged in linear light, back in sRGB, as `pictures.resize_srgb` does it."""
    import torch  # noqa: PLC0415

    if factor == 1:
        return images
    linear = torch.where(images <= 0.04045, images / 12.92, ((images.clamp(min=1e-3) + 0.055) / 1.055) ** 2.4)
    small = torch.nn.functional.avg_pool2d(linear.permute(0, 3, 1, 2), factor).permute(0, 2, 3, 1)
    return torch.where(small <= 0.0031308, small * 12.92, 1.055 * small.clamp(min=1e-4) ** (1 / 2.4) - 0.055)
