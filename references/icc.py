"""Colour profiles: an embedded ICC profile is applied, so that the picture is sRGB."""

from __future__ import annotations

import io

from PIL import Image, ImageCms


def converted_by_profile(image: Image.Image, notes: list[str]) -> Image.Image:
    """Convert by the embedded profile to sRGB, keeping alpha; a profile that cannot be used is a warning in `notes`."""
    data = image.info.get("icc_profile")
    if not data:
        return image
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    base = image
    if image.mode in ("P", "PA"):
        if "transparency" in image.info or image.mode == "PA":
            alpha = image.convert("RGBA").getchannel("A")
        base = image.convert("RGB")
    elif alpha is not None:
        base = image.convert(image.mode[:-1])
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(data))
        name = _printable(ImageCms.getProfileDescription(profile)) or "unnamed profile"
        converted = ImageCms.profileToProfile(base, profile, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, UnicodeDecodeError):
        notes.append(f"warning: the embedded colour profile cannot be used for {base.mode} and was ignored")
        return image
    if converted is None:
        return image
    if "srgb" not in name.lower():
        notes.append(f"converted from the colour profile “{name}” to sRGB")
    if alpha is not None:
        converted.putalpha(alpha)
    converted.info.pop("icc_profile", None)
    converted.info.pop("transparency", None)
    return converted


def _printable(text: str) -> str:
    """One line of at most 80 characters: what stands in a file is nothing to print unseen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:80]
