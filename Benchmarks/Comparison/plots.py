"""The pictures of docs/comparison.md."""

import matplotlib

matplotlib.use("svg")
# The same figures give the same file.
matplotlib.rcParams.update({"svg.hashsalt": "keychaind", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as pyplot  # noqa: E402

COLOURS = {"keychaind": "#0b6bcb", "gnome-keyring": "#c2410c", "kwalletd5": "#6d28d9", "KeePassXC": "#15803d"}
MARKERS = {"keychaind": "o", "gnome-keyring": "s", "kwalletd5": "^", "KeePassXC": "D"}


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw_items(results, calls, path):
    """The median of each call over the number of items, both logarithmic."""
    figure, panels = pyplot.subplots(1, len(calls), figsize=(3.4 * len(calls), 3.2), sharex=True)
    for panel, call in zip(panels, calls):
        for name, figures in results.items():
            samples = [sample for sample in figures["calls"] if sample["call"] == call]
            panel.loglog(
                [sample["size"] for sample in samples], [sample["microseconds"] / 1000 for sample in samples],
                color=COLOURS[name], marker=MARKERS[name], markersize=4, label=name,
            )  # fmt: skip
        ping = min(sample["ping"] for figures in results.values() for sample in figures["calls"]) / 1000
        panel.axhline(ping, color="#888888", linestyle=":", label="Ping")
        panel.set_title(call)
        panel.set_xlabel("items")
        for axis in [panel.xaxis, panel.yaxis]:
            axis.set_major_formatter("{x:,g}")
        panel.grid(True, which="major", color="#dddddd", linewidth=0.5)
    panels[0].set_ylabel("ms, median")
    panels[0].legend(frameon=False)
    save(figure, path)


def draw_floods(results, floods, path):
    """From the median to the 99th percentile of GetSecret, for each flood and provider."""
    figure, panel = pyplot.subplots(figsize=(7.5, 3.6))
    step = 1 / (len(results) + 1)
    for place, (name, figures) in enumerate(results.items()):
        for row, flood in enumerate(floods):
            height = row + (place - (len(results) - 1) / 2) * step
            found = figures["floods"].get(flood)
            if not found:
                continue
            times = [found["p50"] / 1000, found["p99"] / 1000]
            label = name if row == 0 else None
            panel.plot(times, [height] * 2, color=COLOURS[name], marker=MARKERS[name], markersize=4, label=label)
    panel.set_xscale("log")
    panel.set_yticks(range(len(floods)), floods.values())
    panel.invert_yaxis()
    panel.set_xlabel("ms, from the median to the 99th percentile")
    panel.grid(True, axis="x", which="major", color="#dddddd", linewidth=0.5)
    panel.xaxis.set_major_formatter("{x:,g}")
    panel.legend(frameon=False, ncol=len(results), loc="lower center", bbox_to_anchor=(0.5, 1))
    save(figure, path)
