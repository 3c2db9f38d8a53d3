"""Brick Texture."""

from __future__ import annotations

import drjit as dr
from drjit.auto.ad import Float, Int32, UInt32

from renderer.preview.evaluation import Inputs, NodeSpec, Outputs
from renderer.preview.ops import minimum, saturate, smoothstep


def brick_noise(word: UInt32) -> Float:
    """Tint of a brick in [0, 1] from its number: a short integer polynomial."""
    n = (word + 1013) & 0x7FFFFFFF
    n = (n >> 13) ^ n
    n = (n * (n * n * 60493 + 19990303) + 1376312589) & 0x7FFFFFFF
    return 0.5 * (Float(n) / 1073741824.0)


def _divides(number: Int32, divisor: Int32) -> dr.ArrayBase:
    safe = dr.select(divisor != 0, divisor, 1)
    return number - safe * Int32(dr.trunc(Float(number) / Float(safe))) == 0


def brick_texture(i: Inputs) -> Outputs:
    """Rows of bricks with mortar; Factor is 1 in the mortar."""
    point = i["Vector"] * i["Scale"]
    height, width = i["Row Height"], i["Brick Width"]
    offset_every = Int32(dr.detach(i.number("offset_frequency")))
    squash_every = Int32(dr.detach(i.number("squash_frequency")))
    row = dr.floor(point.y / height)
    row_number = Int32(dr.detach(row))
    patterned = (offset_every != 0) & (squash_every != 0)
    squashed = patterned & _divides(row_number, squash_every)
    width = dr.select(squashed, width * i.number("squash"), width)
    shifted = patterned & _divides(row_number, offset_every)
    x = point.x + dr.select(shifted, width * i.number("offset"), 0.0)
    column = dr.floor(x / width)
    x = x - width * column
    y = point.y - height * row
    word = (UInt32(row_number) << 16) + (UInt32(Int32(dr.detach(column))) & 0xFFFF)
    tint = saturate(brick_noise(word) + i["Bias"])
    edge = minimum(minimum(x, y), minimum(width - x, height - y))
    size, softness = i["Mortar Size"], i["Mortar Smooth"]
    hard = softness == 0
    ramp = smoothstep((1.0 - edge / dr.select(size != 0, size, 1.0)) / dr.select(hard, 1.0, softness))
    mortar = dr.select(edge >= size, 0.0, dr.select(hard, Float(1.0), ramp))
    color = i["Color1"] * (1.0 - tint) + i["Color2"] * tint
    color = dr.select(mortar != 1.0, color, i["Color1"])
    return {"Color": color * (1.0 - mortar) + i["Mortar"] * mortar, "Fac": mortar}


TABLE = {"ShaderNodeTexBrick": NodeSpec(brick_texture, smooth=False)}
