# SPDX-License-Identifier: GPL-2.0-only
"""Draws one array's table as bars, in SVG.

Owns how a plot looks.  A bar's length is the figure over the best of its
workload, so that MiB/s and IOPS stand in one picture; the figure is written
at the bar.  Reads and writes no files.
"""
from xml.sax.saxutils import escape

LEFT, BAR, RIGHT = 260, 400, 90
STEP, GAP, TOP = 13, 10, 56
COLOURS = {
    "roundrobin": "#1b6ca8", "pid worst": "#c9c9c9", "pid best": "#9a9a9a", "md": "#d08c3f",
    "before": "#c9c9c9", "after": "#1b6ca8",
    "relocation": "#c9c9c9", "stripes": "#1b6ca8",
    "least-queue": "#7fa65a", "latency": "#b56576", "first-roundrobin": "#8d79b5",
}


def text(x, y, words, *more):
    return '<text x="%d" y="%d" %s>%s</text>' % (x, y, " ".join(more), escape(words))


def bar(y, name, share, words):
    colour = COLOURS.get(name, "#444444")
    return ['<rect x="%d" y="%d" width="%d" height="%d" fill="%s"><title>%s %s</title></rect>' % (
                LEFT, y, max(1, round(share * BAR)), STEP - 2, colour, escape(name), escape(words)),
            text(LEFT + round(share * BAR) + 4, y + STEP - 3, words, 'font-size="9"')]


def legend(names):
    out, x = [], 10
    for name in names:
        out.append('<rect x="%d" y="30" width="10" height="10" fill="%s"/>' % (
            x, COLOURS.get(name, "#444444")))
        out.append(text(x + 14, 39, name, 'font-size="10"'))
        x += 34 + 6 * len(name)
    return out


def bars_of(row, top, names):
    """One workload: its title beside a bar for each policy that has a figure."""
    title, unit, figures = row
    best = max(figures.values())
    shown = [n for n in names if n in figures]
    out = [text(LEFT - 8, top + len(shown) * STEP // 2 + 4, "%s, %s" % (title, unit),
                'font-size="11"', 'text-anchor="end"')]
    for n, name in enumerate(shown):
        words = ("%.0f" if figures[name] >= 100 else "%.3g") % figures[name]
        out += bar(top + n * STEP, name, figures[name] / best, words)
    return out, top + len(shown) * STEP + GAP


def svg(title, rows, names):
    """Rows are (title, unit, figures by policy); names give order and legend."""
    body, top = [text(10, 18, title, 'font-size="14"', 'font-weight="bold"')] + legend(names), TOP
    for row in rows:
        lines, top = bars_of(row, top, names)
        body += lines
    width = LEFT + BAR + RIGHT
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif">' % (width, top),
        '<rect width="%d" height="%d" fill="#ffffff"/>' % (width, top), *body, "</svg>"]) + "\n"
