"""One picture of two engines: each channel as the one and the other drew it, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from renderer import encode, quantize
from renderer.comparison import ChannelDifference, shown_difference

if TYPE_CHECKING:
    from renderer import RenderResult
    from renderer.protocol import Channel, FloatArray

_GAP, _CAPTION, _SMALLEST = 8, 18, 256
_BACKGROUND, _INK = (255, 255, 255), (20, 20, 20)


def side_by_side(
    first: RenderResult, second: RenderResult, differences: Mapping[Channel, ChannelDifference]
) -> Image.Image:
    """An RGB picture with a row for each compared channel: the first engine, the second, the amplified difference.

    Pictures smaller than 256 pixels are enlarged without smoothing. Both engines' height is stretched over the range
    of the first. The caption of a difference states its factor.
    """
    side = max(next(iter(first.channels.values())).shape[0], _SMALLEST)
    row = side + _CAPTION + _GAP
    sheet = Image.new("RGB", (3 * (side + _GAP) + _GAP, _GAP + row * len(differences)), _BACKGROUND)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for line, (channel, apart) in enumerate(differences.items()):
        a, b = first.channels[channel], second.channels[channel]
        amplified = shown_difference(channel, a, b) * np.float32(apart.amplification)
        panels = (
            (f"{channel}, {first.engine}", _shown(channel, a, a)),
            (f"{channel}, {second.engine}", _shown(channel, b, a)),
            (f"difference x {apart.amplification:g}, largest {apart.largest:.2g}", quantize(amplified)),
        )
        for column, (caption, pixels) in enumerate(panels):
            left, top = _GAP + column * (side + _GAP), _GAP + line * row
            draw.text((left, top), caption, fill=_INK, font=font)
            sheet.paste(_picture(pixels, side), (left, top + _CAPTION))
    return sheet


def _shown(channel: Channel, array: FloatArray, like: FloatArray) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
    if channel != "height":
        return quantize(encode(channel, array).pixels)
    range_of = encode(channel, like)
    span = range_of.high - range_of.low
    return quantize((array - np.float32(range_of.low)) / np.float32(span if span > 0 else 1.0))


def _picture(pixels: npt.NDArray[np.uint8] | npt.NDArray[np.uint16], side: int) -> Image.Image:
    three = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
    return Image.fromarray(np.ascontiguousarray(three)).resize((side, side), Image.Resampling.NEAREST)
