# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart of means and intervals as SVG text, for notebooks where a run drew none."""
from __future__ import annotations

import math
from html import escape
from typing import Any, List, Mapping, Sequence

__all__ = ["interval_chart"]

# Okabe and Ito's colours, which people with any colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_ROWS_MAX = 40
_WIDTH, _ROW, _TOP = 640, 18, 30


def _ticks(low: float, high: float) -> List[float]:
    """Round values from `low` to `high`, at most six."""
    step = 10.0 ** math.floor(math.log10(high - low))
    for part in (0.1, 0.2, 0.5, 1.0, 2.0):
        if (high - low) / (step * part) <= 5:
            step *= part
            break
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * i for i in range(first, last + 1)]


def interval_chart(title: str, rows: Sequence[Mapping[str, Any]], with_point: bool) -> str:
    """Returns an <svg>: a dot and a line from `low` to `high` for each row.

    rows: maps with point, policy, mean, low and high; the axis begins at 0 or below
    with_point: whether labels name the point
    """
    shown = list(rows)[:_ROWS_MAX]
    labels = [f"{row['point']}  {row['policy']}" if with_point else str(row["policy"])
              for row in shown]
    left = min(320, 14 + max((7 * len(label) for label in labels), default=0))
    high = max((row["high"] for row in shown), default=0) or 1.0
    low = min(0.0, min((row["low"] for row in shown), default=0.0))
    height = _TOP + _ROW * len(shown) + 28

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (_WIDTH - left - 20)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
             'font-family="sans-serif" font-size="12">',
             f'<text x="4" y="16" font-weight="bold">{escape(title)}</text>']
    bottom = _TOP + _ROW * len(shown)
    for tick in _ticks(low, high):
        x = place(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}" '
                     f'stroke="#ddd"/><text x="{x:.1f}" y="{bottom + 16}" '
                     f'text-anchor="middle">{tick:g}</text>')
    policies = list(dict.fromkeys(row["policy"] for row in shown))
    for number, (row, label) in enumerate(zip(shown, labels)):
        y = _TOP + _ROW * number + _ROW / 2
        colour = _COLOURS[policies.index(row["policy"]) % len(_COLOURS)]
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                     f'{escape(label)}</text>'
                     f'<line x1="{place(row["low"]):.1f}" y1="{y:.1f}" '
                     f'x2="{place(row["high"]):.1f}" y2="{y:.1f}" stroke="{colour}" '
                     f'stroke-width="2"/><circle cx="{place(row["mean"]):.1f}" cy="{y:.1f}" '
                     f'r="4" fill="{colour}"/>')
    parts.append("</svg>")
    if len(rows) > len(shown):
        parts.append(f"<p>... {len(rows) - len(shown)} more rows</p>")
    return "".join(parts)
