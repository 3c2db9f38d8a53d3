"""Light that shaders send to the camera of the flat view under its one sun.

The view and the patch both look along +Z. The Principled shader follows Cycles: α = roughness², height-correlated
Smith shadowing, the true dielectric Fresnel curve, F82 for metal, compensation for light that bounces between facets,
and layers that take from the ones below what they reflect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import drjit as dr
from drjit.auto.ad import Array3f, Bool, Float

from renderer.preview.evaluation import Inputs
from renderer.preview.lookup import EnergyTables
from renderer.preview.ops import absolute, dot, maximum, minimum, safe_divide, safe_sqrt, saturate

# 45° from +Z, towards -X +Y; strong enough that a white Lambertian patch facing up is 1.0.
SUN = (-0.5, 0.5, math.sqrt(0.5))
IRRADIANCE = math.pi / math.sqrt(0.5)
# A mirror of the view on a normal below this would point under the surface; Cycles lifts the normal to it.
_LOWEST_NORMAL = math.sqrt(0.505)
# Below this roughness to the fourth a lobe is a mirror, and a sun without size never shows in it.
_MIRROR = 2e-10

# Inputs that must keep a value for beauty to be drawn: effects that are left to Blender.
REQUIRED: Mapping[str, Mapping[str, float]] = {
    "ShaderNodeBsdfPrincipled": {
        "Alpha": 1.0,
        "Diffuse Roughness": 0.0,
        "Subsurface Weight": 0.0,
        "Anisotropic": 0.0,
        "Transmission Weight": 0.0,
        "Coat Weight": 0.0,
        "Sheen Weight": 0.0,
        "Thin Film Thickness": 0.0,
    },
    "ShaderNodeBsdfDiffuse": {"Roughness": 0.0},
}


def _sun() -> Array3f:
    return Array3f(*SUN)


def diffuse_light(normal: Array3f) -> Float:
    """Light from a white Lambertian surface, with Cycles' softening where a bumped normal turns from the sun."""
    cosine = dot(normal, _sun())
    cos_d = absolute(normal.z)
    tangent2 = safe_divide(Float(1.0), cos_d * cos_d) - 1.0
    alpha2 = saturate(0.125 * tangent2)
    # The sun stands at 45°: the square of its tangent is one.
    shadow = 0.5 * (dr.sqrt(1.0 + alpha2) - 1.0)
    soft = dr.select(cos_d < 1.0, 1.0 / (1.0 + shadow), 1.0)
    lit = (cosine > 0) & (normal.z > 0)
    return dr.select(lit, cosine * soft * (IRRADIANCE / math.pi), 0.0)


def lifted(normal: Array3f) -> Array3f:
    """The normal that mirrors the view above the surface."""
    size = safe_sqrt(normal.x * normal.x + normal.y * normal.y)
    scale = math.sqrt(1.0 - _LOWEST_NORMAL**2) / dr.select(size > 0, size, 1.0)
    steep = normal.z < _LOWEST_NORMAL
    return dr.select(steep, Array3f(normal.x * scale, normal.y * scale, Float(_LOWEST_NORMAL)), normal)


def fresnel_dielectric(cosine: Float, ior: Float) -> Float:
    """Reflectance of an interface, unpolarised; 1 for total reflection."""
    g2 = ior * ior - 1.0 + cosine * cosine
    valid = g2 > 0
    g = dr.sqrt(dr.select(valid, g2, 1.0))
    a = (g - cosine) / (g + cosine)
    b = (cosine * (g + cosine) - 1.0) / (cosine * (g - cosine) + 1.0)
    return dr.select(valid, 0.5 * a * a * (1.0 + b * b), 1.0)


def _f0(ior: Float) -> Float:
    ratio = (ior - 1.0) / (ior + 1.0)
    return ratio * ratio


def _dielectric_average(ior: Float) -> Float:
    """Mean Fresnel reflectance over the hemisphere: the fit of Kulla and Conty."""
    above = (ior - 1.0) / (4.08567 + 1.00071 * ior)
    below = 0.997118 + ior * (0.1014 - ior * (0.965241 + ior * 0.130607))
    return dr.select(ior < 1.0, below, above)


class Lobe:
    """A GGX lobe seen from above under the sun: what it sends for a white Fresnel, and its energy."""

    def __init__(self, normal: Array3f, roughness: Float, tables: EnergyTables, *, compensate: bool) -> None:
        self.normal = normal
        self.roughness = roughness
        self.tables = tables
        sun = _sun()
        alpha2 = roughness * roughness * roughness * roughness
        self.cos_view = normal.z
        cos_sun = dot(normal, sun)
        half_length = math.sqrt(SUN[0] ** 2 + SUN[1] ** 2 + (SUN[2] + 1.0) ** 2)
        half = Array3f(SUN[0] / half_length, SUN[1] / half_length, (SUN[2] + 1.0) / half_length)
        self.cos_half_view = (SUN[2] + 1.0) / half_length
        cos_half2 = minimum(dot(normal, half) * dot(normal, half), 1.0)
        bulge = (1.0 - cos_half2) + alpha2 * cos_half2
        facets = safe_divide(alpha2, math.pi * bulge * bulge)
        valid = (self.cos_view > 0) & (cos_sun > 0) & (alpha2 > _MIRROR)
        masking = 1.0 + _shadow(alpha2, self.cos_view) + _shadow(alpha2, cos_sun)
        cos_view = dr.select(self.cos_view > 0, self.cos_view, 1.0)
        self.light = dr.select(valid, facets * 0.25 / (cos_view * masking) * IRRADIANCE, 0.0)
        self.compensate = compensate
        if compensate:
            self.energy = tables.energy(roughness, self.cos_view)
            self.average = tables.average(roughness)
            self.missing = (1.0 - self.energy) / self.energy

    def gain(self, mean_fresnel: Array3f) -> Array3f:
        """Factor on the light for facets that see each other."""
        if not self.compensate:
            return Array3f(1.0)
        return 1.0 + self._repeated(mean_fresnel) * self.missing

    def darkening(self, mean_fresnel: Array3f) -> Array3f:
        """The same factor over that of a white lobe: what the layers below count with."""
        if not self.compensate:
            return Array3f(1.0)
        return (1.0 + self._repeated(mean_fresnel) * self.missing) / (1.0 + self.missing)

    def _repeated(self, mean_fresnel: Array3f) -> Array3f:
        return mean_fresnel * self.average / (1.0 - mean_fresnel * (1.0 - self.average))


def _shadow(alpha2: Float, cosine: Float) -> Float:
    inverse2 = safe_divide(Float(1.0), cosine * cosine)
    return 0.5 * (dr.sqrt(1.0 + alpha2 * maximum(inverse2 - 1.0, 0.0)) - 1.0)


def _metal(lobe: Lobe, f0: Array3f, edge: Array3f) -> Array3f:
    """F82: Schlick's curve with a dip at 82°."""
    six_sevenths = 6.0 / 7.0
    fifth = six_sevenths**5
    dip = (f0 + (1.0 - f0) * fifth) * (7.0 / (fifth * six_sevenths)) * (1.0 - edge)
    c = lobe.cos_half_view
    fresnel = f0 + (1.0 - f0) * (1.0 - c) ** 5 - dip * (c * (1.0 - c) ** 6)
    fresnel = Array3f(*(saturate(fresnel[channel]) for channel in range(3)))
    mean = f0 + (1.0 - f0) * (1.0 / 21.0) - dip * (1.0 / 126.0)
    return fresnel * lobe.light * lobe.gain(mean)


def _coating(lobe: Lobe, ior: Float, level: Float, tint: Array3f) -> tuple[Array3f, Float]:
    """The dielectric layer's light, and the share that it leaves to the layers below."""
    raised = _f0(ior) * 2.0 * level
    root = safe_sqrt(minimum(raised, 0.99))
    eta = (1.0 + root) / (1.0 - root)
    eta = dr.select(ior < 1.0, 1.0 / eta, eta)
    adjusted = level != 0.5
    eta, base = dr.select(adjusted, eta, ior), dr.select(adjusted, raised, _f0(ior))
    f0 = tint * base
    real_f0 = _f0(eta)
    span = 1.0 - real_f0

    def between(reflectance: Float) -> Array3f:
        share = saturate((reflectance - real_f0) / span)
        return f0 + (1.0 - f0) * share

    fresnel = between(fresnel_dielectric(Float(lobe.cos_half_view), eta))
    mean = between(_dielectric_average(eta))
    ratio = safe_sqrt(absolute((eta - 1.0) / (eta + 1.0)))
    share = lobe.tables.share(lobe.roughness, lobe.cos_view, ratio)
    albedo = (f0 + (1.0 - f0) * share) * lobe.darkening(mean)
    largest = maximum(albedo.x, maximum(albedo.y, albedo.z))
    present = eta != 1.0
    light = dr.select(present, fresnel * lobe.light * lobe.gain(mean), Array3f(0.0))
    return light, dr.select(present, saturate(1.0 - largest), 1.0)


def _positive(color: Array3f) -> Array3f:
    return maximum(color, 0.0)


def principled(i: Inputs, normal: Array3f) -> Array3f:
    """The Principled shader without coat, sheen, subsurface, transmission and film."""
    base = _positive(i["Base Color"])
    clamped = minimum(base, 1.0)
    metallic, roughness = saturate(i["Metallic"]), saturate(i["Roughness"])
    tint = _positive(i["Specular Tint"])
    lobe = Lobe(lifted(normal), roughness, i.tables, compensate=i.option("distribution") == "MULTI_GGX")
    emitted = i["Emission Color"] * i["Emission Strength"]
    ior, level = maximum(i["IOR"], 1e-5), maximum(i["Specular IOR Level"], 0.0)

    def metal() -> Array3f:
        return _metal(lobe, clamped, minimum(tint, 1.0)) * metallic

    def dielectric() -> Array3f:
        coating, left = _coating(lobe, ior, level, tint)
        return (coating + base * left * diffuse_light(normal)) * (1.0 - metallic)

    # Nearly all materials are the one or the other. Derivatives need both.
    if i.octave_limit is not None:
        return emitted + metal() + dielectric()
    return emitted + _where(metallic != 0, metal) + _where(metallic != 1, dielectric)


def _where(condition: Bool, light: Callable[[], Array3f]) -> Array3f:
    """`light` where the condition holds, else none; not computed by packets of lanes in which it holds nowhere."""
    return dr.if_stmt((Array3f(0.0),), condition, lambda _: (light(),), lambda none: (none,))[0]


def diffuse(i: Inputs, normal: Array3f) -> Array3f:
    """Lambert's law."""
    return i["Color"] * diffuse_light(normal)


def emission(i: Inputs, normal: Array3f) -> Array3f:
    """Its own light."""
    return i["Color"] * i["Strength"]


RADIANCE: Mapping[str, Callable[[Inputs, Array3f], Array3f]] = {
    "ShaderNodeBsdfPrincipled": principled,
    "ShaderNodeBsdfDiffuse": diffuse,
    "ShaderNodeEmission": emission,
}
