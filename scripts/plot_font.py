#!/usr/bin/env python3
"""Makes the font of plots: Liberation Sans, which has Helvetica's widths, with the characters of Latin-1 alone.

    scripts/plot_font.py LiberationSans-Regular.ttf crates/lab/vendor/plot-font

Needs fonttools (4.x); Debian has the font in fonts-liberation2. The result is named otherwise, as the licence asks of
what was changed (SIL Open Font License 1.1, 3).
"""

import hashlib
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

NAME = "Wordline Plot"
LATIN_1 = [*range(0x20, 0x7F), *range(0xA0, 0x100)]


def main(source, folder):
    font = TTFont(source, recalcTimestamp=False)
    options = subset.Options()
    options.hinting = False
    options.layout_features = []
    options.name_IDs = [0, 13, 14]  # copyright and licence
    options.notdef_outline = True
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "kern", "DSIG", "FFTM"]
    narrowed = subset.Subsetter(options)
    narrowed.populate(unicodes=LATIN_1)
    narrowed.subset(font)
    for number, text in [(1, NAME), (2, "Regular"), (4, NAME), (6, NAME.replace(" ", ""))]:
        font["name"].setName(text, number, 3, 1, 0x409)
    out = Path(folder) / "WordlinePlot.ttf"
    font.save(out)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in (out, out.parent / "LICENSE")]
    (out.parent / "SHA256SUMS").write_text("".join(sums))
    print(out, out.stat().st_size, "bytes,", len(font.getGlyphOrder()), "glyphs")


if __name__ == "__main__":
    main(*sys.argv[1:])
