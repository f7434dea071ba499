"""Draws the icon of the status bar: a gauge, as a font of one glyph. Needs fonttools.

Run `python icons/draw.py` after a change; `sidecar.woff` is committed. So is the extension's
`sidecar.png`, which a browser drew of `icon.svg`, 256 pixels wide.
"""

from math import cos, pi, sin
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

UNITS = 1000
CENTRE = (500, 400)
OUTER, INNER = 440, 330
"""Radii of the dial."""
FROM, TO = 1.15 * pi, -0.15 * pi
STEPS = 40
NEEDLE = 0.3 * pi


def at(radius: float, angle: float) -> tuple[int, int]:
    """Give a point on a circle around the dial's centre."""
    return round(CENTRE[0] + radius * cos(angle)), round(CENTRE[1] + radius * sin(angle))


def contour(pen: TTGlyphPen, points: list[tuple[int, int]]) -> None:
    """Draw a closed polygon."""
    pen.moveTo(points[0])
    for point in points[1:]:
        pen.lineTo(point)
    pen.closePath()


def gauge() -> TTGlyphPen:
    """Draw the dial, its hub and its needle."""
    pen = TTGlyphPen(None)
    angles = [FROM + (TO - FROM) * step / STEPS for step in range(STEPS + 1)]
    contour(pen, [at(OUTER, a) for a in angles] + [at(INNER, a) for a in reversed(angles)])
    contour(pen, [at(85, 2 * pi * step / 24) for step in range(24, 0, -1)])
    tip, side = at(OUTER - 150, NEEDLE), 38
    left, right = at(side, NEEDLE + pi / 2), at(side, NEEDLE - pi / 2)
    contour(pen, [left, tip, right])
    return pen


def main() -> None:
    """Write the font."""
    empty = TTGlyphPen(None).glyph()
    builder = FontBuilder(UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef", "sidecar"])
    builder.setupCharacterMap({0xE001: "sidecar"})
    builder.setupGlyf({".notdef": empty, "sidecar": gauge().glyph()})
    builder.setupHorizontalMetrics({".notdef": (UNITS, 0), "sidecar": (UNITS, 0)})
    builder.setupHorizontalHeader(ascent=850, descent=-150)
    builder.setupNameTable({"familyName": "sidecar", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=850, sTypoDescender=-150, usWinAscent=850, usWinDescent=150)
    builder.setupPost()
    builder.font.flavor = "woff"
    builder.font.recalcTimestamp = False
    builder.save(Path(__file__).parent / "sidecar.woff")


if __name__ == "__main__":
    main()
