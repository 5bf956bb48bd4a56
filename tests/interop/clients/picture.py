"""Draws what a terminal showed as an animated picture.

    picture.py FRAMES HOME SHOWN_HOME OUT

FRAMES is a folder of files `ORDER.MILLISECONDS`, each a screen with its escape sequences. HOME, a scratch
folder, is shown as SHOWN_HOME.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FONTS = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/System/Library/Fonts/Menlo.ttc",
]
FONT_SIZE = 15
LINE_HEIGHT = 20
MARGIN = 14
COLOURS = 64
THEME = TerminalTheme(
    (24, 26, 33),
    (214, 218, 228),
    [(24, 26, 33), (240, 113, 120), (145, 207, 122), (236, 190, 112), (110, 168, 254), (203, 151, 240), (96, 200, 210), (214, 218, 228)],
    [(110, 116, 130), (240, 113, 120), (145, 207, 122), (236, 190, 112), (110, 168, 254), (203, 151, 240), (96, 200, 210), (255, 255, 255)],
)


def main(frames: str, home: str, shown_home: str, out: str) -> None:
    files = sorted(Path(frames).iterdir(), key=lambda file: int(file.stem))
    font = ImageFont.truetype(next(name for name in FONTS if Path(name).exists()), FONT_SIZE)
    screens = [file.read_text(encoding="utf-8").replace(home, shown_home) for file in files]
    rows = max(screen.count("\n") for screen in screens)
    columns = 100
    cell = font.getlength("m")
    size = (round(columns * cell) + 2 * MARGIN, rows * LINE_HEIGHT + 2 * MARGIN)
    console = Console(width=columns, color_system="truecolor")
    pictures = [draw(screen, font, cell, size, console) for screen in screens]
    # One palette for all, from the screen that needs the most of it.
    palette = max(pictures, key=lambda picture: len(picture.getcolors(1 << 16) or [])).quantize(COLOURS)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    milliseconds = [int(file.suffix[1:]) for file in files]
    pictures[0].save(out, save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0, optimize=True)
    print(f"wrote {out}: {len(files)} screens, {sum(milliseconds) / 1000:.1f} s, {Path(out).stat().st_size:,} bytes")


def draw(screen: str, font: ImageFont.FreeTypeFont, cell: float, size: tuple[int, int], console: Console) -> Image.Image:
    picture = Image.new("RGB", size, THEME.background_color)
    pen = ImageDraw.Draw(picture)
    for row, line in enumerate(screen.splitlines()):
        column = 0
        for segment in Text.from_ansi(line).render(console, end=""):
            place = (MARGIN + column * cell, MARGIN + row * LINE_HEIGHT)
            pen.text(place, segment.text, font=font, fill=colour_of(segment.style))
            column += segment.cell_length
    return picture


def colour_of(style: Style | None) -> tuple[int, int, int]:
    if style is None:
        return THEME.foreground_color
    if style.color is None or style.color.is_default:
        return (140, 146, 160) if style.dim else THEME.foreground_color
    return style.color.downgrade(ColorSystem.TRUECOLOR).get_truecolor(THEME)


main(*sys.argv[1:])
