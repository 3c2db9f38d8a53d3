"""Tables of the microfacet model's energy, which Cycles' Principled shader looks up; made by `python -m` this module.

`E` (32, 32): albedo of a white GGX lobe by roughness and cosine; `E_avg` (32,): its cosine-weighted mean; `s`
(16, 16, 16): how far the true dielectric Fresnel, averaged over the lobe, lies between its value at normal incidence
and one, by roughness, cosine and √|(ior − 1)/(ior + 1)|. Definitions: Kulla and Conty, "Revisiting Physically Based
Shading at Imageworks", 2017; sampling of visible normals: Heitz, JCGT 7(4), 2018.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
E_SIZE, S_SIZE = 32, 16
_SIDE = 192
_TINY = 1e-4


@cache
def load() -> dict[str, npt.NDArray[np.float32]]:
    """The committed tables by name."""
    with resources.files("renderer.preview").joinpath("data/ggx.npz").open("rb") as file, np.load(file) as archive:
        return {name: archive[name].astype(np.float32) for name in ("E", "E_avg", "s")}


def _lobe(rough: float, mu: float, side: int) -> tuple[Array, Array]:
    """Weights (shadowing of the reflected ray) and cosines between view and microfacet, over visible normals."""
    alpha, mu = max(rough, _TINY) ** 2, max(mu, _TINY)
    grid = (np.arange(side) + 0.5) / side
    u, v = (axis.ravel() for axis in np.meshgrid(grid, grid))
    view = np.array([np.sqrt(1.0 - mu * mu), 0.0, mu])
    stretched = np.array([alpha * view[0], 0.0, view[2]])
    stretched /= np.linalg.norm(stretched)
    planar = stretched[0] ** 2
    first = np.array([0.0, 1.0, 0.0]) if planar > 0 else np.array([1.0, 0.0, 0.0])
    second = np.cross(stretched, first)
    radius, angle = np.sqrt(u), 2.0 * np.pi * v
    t1, t2 = radius * np.cos(angle), radius * np.sin(angle)
    half = 0.5 * (1.0 + stretched[2])
    t2 = (1.0 - half) * np.sqrt(np.maximum(1.0 - t1 * t1, 0.0)) + half * t2
    t3 = np.sqrt(np.maximum(1.0 - t1 * t1 - t2 * t2, 0.0))
    normal = t1[:, None] * first + t2[:, None] * second + t3[:, None] * stretched
    normal = normal * np.array([alpha, alpha, 1.0])
    normal[:, 2] = np.maximum(normal[:, 2], 0.0)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    cosine = normal @ view
    reflected = 2.0 * cosine * normal[:, 2] - view[2]

    def shadow(c: Array | float) -> Array:
        masked: Array = 0.5 * (np.sqrt(1.0 + alpha**2 * np.maximum(1.0 / np.square(c) - 1.0, 0.0)) - 1.0)
        return masked

    seen = shadow(mu)
    up = reflected > 0
    weight = np.where(up, (1.0 + seen) / (1.0 + seen + shadow(np.where(up, reflected, 1.0))), 0.0)
    return weight, np.clip(cosine, 0.0, 1.0)


def dielectric(cosine: Array, ior: float) -> Array:
    """Fresnel reflectance of an interface, unpolarised."""
    g = np.sqrt(ior * ior - 1.0 + cosine * cosine)
    a = (g - cosine) / (g + cosine)
    b = (cosine * (g + cosine) - 1.0) / (cosine * (g - cosine) + 1.0)
    reflectance: Array = 0.5 * a * a * (1.0 + b * b)
    return reflectance


def make() -> dict[str, npt.NDArray[np.float32]]:
    """Compute all three, in about a minute."""
    axis = np.linspace(0.0, 1.0, E_SIZE)
    energy = np.array([[_lobe(rough, mu, _SIDE)[0].mean() for mu in axis] for rough in axis])
    nodes, weights = np.polynomial.legendre.leggauss(24)  # type: ignore[no-untyped-call]
    fine = 0.5 * (nodes + 1.0)
    mean = np.array(
        [sum(w * m * _lobe(rough, m, 96)[0].mean() for w, m in zip(weights, fine, strict=True)) for rough in axis]
    )
    small = np.linspace(0.0, 1.0, S_SIZE)
    share = np.zeros((S_SIZE, S_SIZE, S_SIZE))
    for i, rough in enumerate(small):
        for j, mu in enumerate(small):
            weight, cosine = _lobe(rough, mu, 96)
            for k, z in enumerate(small):
                ratio = min(z * z, 0.9999)
                ior = (1.0 + ratio) / (1.0 - ratio)
                f0 = ratio * ratio
                between = np.clip((dielectric(cosine, max(ior, 1.0 + 1e-6)) - f0) / (1.0 - f0), 0.0, 1.0)
                share[i, j, k] = (weight * between).sum() / max(weight.sum(), 1e-12)
    return {"E": energy.astype(np.float32), "E_avg": mean.astype(np.float32), "s": share.astype(np.float32)}


if __name__ == "__main__":
    np.savez_compressed(Path(__file__).parent / "data" / "ggx.npz", allow_pickle=False, **make())
