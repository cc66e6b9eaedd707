"""Plots with matplotlib, which is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordline._core import Result

#: Parts of a second, for axes.
_UNITS = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]


def _unit(seconds: float) -> tuple[float, str]:
    """The largest unit in which a time is one or more."""
    return next(((size, name) for size, name in _UNITS if seconds >= size), _UNITS[-1])


def plot(result: Result, column: str = "read_p99_ns", *, ax: Any = None, **style: Any) -> Any:
    """Draws a column of a result's time series over simulated time; returns matplotlib's axes.

    `column` is a name of `result.timeseries`. Those that end in `_ns` are drawn in a unit that suits them. `ax` is
    where to draw: a new figure's axes if none is given. `style` goes to `Axes.plot`.
    """
    series = result.timeseries
    if series is None:
        raise ValueError("the run has no time series\n    allowed: a timed run with samples above 0")
    if column not in series:
        # The table's own error names what is near.
        series[column]
    import matplotlib.pyplot as pyplot
    import numpy

    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    values = series[column].astype(float)
    label = column.replace("_", " ")
    if column.endswith("_ns"):
        size, unit = _unit(float(numpy.nanmax(values, initial=0.0)) * 1e-9)
        values, label = values * 1e-9 / size, f"{column.removesuffix('_ns').replace('_', ' ')} ({unit})"
    ends = series["end_ns"] * 1e-9
    size, unit = _unit(float(ends[-1]) if len(ends) else 0.0)
    ax.plot(ends / size, values, **{"linewidth": 1.0, **style})
    ax.set_xlabel(f"simulated time ({unit})")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    return ax
