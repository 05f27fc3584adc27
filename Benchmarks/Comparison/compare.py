#!/usr/bin/python3
"""compare.py [--quick | --draw] [PROVIDER...]: measures providers of the Secret Service side by side, and draws that.

Writes docs/comparison.md and its pictures. Each provider runs on a bus and in a home of its own. Needs a release build
of KeychaindServiceBenchmark and keychaind. The figures of providers that are not named are those of the last run.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import textwrap
import time

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(FOLDER))
sys.path.insert(0, FOLDER)
import plots  # noqa: E402
import providers  # noqa: E402

CALLS = ["GetSecret", "SearchItems", "CreateItem"]
SIZES = [100, 300, 1000, 3000, 10000]
# The seconds for which a provider is filled: some take longer for each item, the more there are.
PATIENCE = 40
FLOODS = {
    "ping": "Ping",
    "getAll": "GetAll of an item",
    "searchEverything": "SearchItems of 100",
    "getSecrets": "GetSecrets of 100",
}
FLOODED_ITEMS = 100


def measure_sizes(stage, sizes, timeout=3 * PATIENCE):
    """The samples, as many as there are if the provider ends or hangs."""
    output = stage.output("--sizes", ",".join(map(str, sizes)), PATIENCE, timeout=timeout, may_fail=True)
    return [json.loads(line) for line in output.splitlines()]


def measure_floods(stage):
    """The latencies of GetSecret in µs, alone and beside a program with 1,024 calls in flight; until one has no end."""
    found = {"nothing": latencies(stage)}
    for flood in FLOODS:
        process = stage.start([stage.benchmark, "--flood", flood, "provider"])
        try:
            stage.wait_for("org.keychaind.Flood")
            found[flood] = latencies(stage)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{FLOODS[flood]}: {error}", file=sys.stderr)
            break
        finally:
            providers.stop(process)
    return found


def latencies(stage):
    samples = sorted(json.loads(stage.output("--latencies", 500, 5, timeout=120))["latencies"])
    return {
        "p50": statistics.median(samples),
        "p99": samples[min(len(samples) - 1, len(samples) * 99 // 100)],
        "count": len(samples),
    }


def resident(process):
    """The resident memory in MB, once what a start or much work needs is given back; None if the process has ended."""
    time.sleep(2)
    with open(f"/proc/{process.pid}/status") as status:
        return next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS")), None)


def lost_by_kill(name, benchmark):
    """The lost items; None if it does not get so far: KWallet now and then opens its wallet for nobody."""
    for _ in range(3):
        try:
            return lost_once(name, benchmark)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{name}: {error}", file=sys.stderr)
    return None


def lost_once(name, benchmark, count=20):
    """How many of the last acknowledged items are missing, or have another secret, after a SIGKILL."""
    with providers.Stage(benchmark) as stage:
        process = providers.start(name, stage)
        measure_sizes(stage, [count], timeout=30)
        providers.stop(process, providers.signal.SIGKILL)
        providers.until(lambda: not stage.has_owner("org.freedesktop.secrets"), f"the end of {name}")
        try:
            providers.start_again(name, stage)
            return count - int(stage.output("--intact", count, timeout=60))
        except RuntimeError:
            return count


def measure(name, benchmark, sizes):
    processors = os.sched_getaffinity(0)
    # All on one for single calls: waking another one takes as long as a whole call.
    os.sched_setaffinity(0, {max(processors)})
    try:
        with providers.Stage(benchmark) as stage:
            process = providers.start(name, stage)
            figures = {"empty": resident(process), "calls": measure_sizes(stage, sizes)}
            if not figures["calls"]:
                raise RuntimeError(f"it did not take {sizes[0]} items")
            figures["filled"] = resident(process)
            figures["ended"] = figures["filled"] is None and largest(figures, "GetSecret")["size"]
    finally:
        os.sched_setaffinity(0, processors)
    with providers.Stage(benchmark) as stage:
        providers.start(name, stage)
        measure_sizes(stage, [FLOODED_ITEMS])
        figures["floods"] = measure_floods(stage)
    figures["lost"] = lost_by_kill(name, benchmark)
    return figures


def version(name):
    """The version, which kwalletd5 does not tell without a session: of its package."""
    package = {"gnome-keyring": "gnome-keyring", "kwalletd5": "libkf5wallet-bin", "KeePassXC": "keepassxc"}.get(name)
    command = ["dpkg-query", "--show", "--showformat=${Version}", package] if package else [
        os.environ.get("KEYCHAIND", f"{PROJECT}/.build/release/keychaind"), "--version",
    ]  # fmt: skip
    output = subprocess.run(command, capture_output=True, text=True).stdout
    return output.split()[-1].split(":")[-1].split("-")[0].split("+")[0]


def latency(found):
    return f"{number(found['p50'] / 1000)} / {number(found['p99'] / 1000)}" if found else "–"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def largest(figures, call):
    return max((sample for sample in figures["calls"] if sample["call"] == call), key=lambda sample: sample["size"])


def tables(results):
    head = "| | " + " | ".join(f"{name} {version(name)}" for name in results) + " |\n"
    head += "|---" * (len(results) + 1) + "|\n"
    yield paragraph("## Calls", "The median in units of a Ping to the floor service, in turn with it.") + head
    for call in CALLS:
        for size in SIZES:
            cells = []
            for figures in results.values():
                sample = [one for one in figures["calls"] if one["call"] == call and one["size"] == size]
                cells.append(number(sample[0]["ratio"]) if sample else "–")
            if any(cell != "–" for cell in cells):
                yield f"| {call}, {size:,} items | " + " | ".join(cells) + " |\n"
    yield f"\n–: it could not be filled with so many items in {PATIENCE} s, or no longer answered.\n\n"
    for name in providers.PROVIDERS:
        if name not in results:
            yield f"{name} did not get through its measurement.\n\n"
    for name, figures in results.items():
        if figures["ended"]:
            yield f"{name} ended by itself after {figures['ended']:,} items.\n\n"
    yield "![Cost of calls over items](images/comparison-items.svg)\n\n"
    yield paragraph(
        "## Beside a flood",
        f"One program's GetSecret while another keeps 1,024 calls in flight, at {FLOODED_ITEMS} items: p50 / p99 in ms.",
    ) + head
    for flood, words in {"nothing": "nothing", **FLOODS}.items():
        cells = [latency(figures["floods"].get(flood)) for figures in results.values()]
        yield f"| {words} | " + " | ".join(cells) + " |\n"
    if any(flood not in figures["floods"] for flood in FLOODS for figures in results.values()):
        yield "\n–: it no longer answered.\n"
    yield "\n![Latency of GetSecret beside a flood](images/comparison-floods.svg)\n\n"
    yield "## Memory and durability\n\n" + head
    yield "| RSS, empty, MB | " + " | ".join(number(figures["empty"]) for figures in results.values()) + " |\n"
    cells = [
        f"{number(figures['filled'])} ({largest(figures, 'GetSecret')['size']:,})" if figures["filled"] else "–"
        for figures in results.values()
    ]
    yield "| RSS, filled, MB (items) | " + " | ".join(cells) + " |\n"
    yield "| lost of 20 acknowledged items, by SIGKILL | "
    yield " | ".join("–" if figures["lost"] is None else str(figures["lost"]) for figures in results.values()) + " |\n"


def document(results):
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    yield paragraph(
        "# Side by side",
        "keychaind and other providers of the Secret Service, as programs see them. Drawn by `make compare`, "
        f"{datetime.date.today()}, on {os.cpu_count()} cores ({processor}), {system}.",
    )
    yield paragraph(
        "One blocking client on libdbus measures each on a bus and in a home of its own, with a password that it knows "
        "and no dialogs, and checks the answers. For the calls, all are on one processor. The time of a CreateItem includes "
        "the prompt that KeePassXC returns."
    )
    yield from tables(results)


def paragraph(*texts):
    return "".join(textwrap.fill(text, 120, break_on_hyphens=False) + "\n\n" for text in texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="with 100 and 300 items")
    parser.add_argument("--draw", action="store_true", help="draw the figures of the last run, without another")
    parser.add_argument("--output", default=f"{PROJECT}/docs", help="the folder that is written to")
    parser.add_argument("providers", nargs="*", default=list(providers.PROVIDERS))
    options = parser.parse_args()
    benchmark = f"{PROJECT}/.build/release/KeychaindServiceBenchmark"
    last = f"{PROJECT}/.build/comparison.json"
    known = {}
    if os.path.exists(last):
        with open(last) as file:
            known = json.load(file)
    for name in [] if options.draw else options.providers:
        print(f"{name} …", flush=True)
        try:
            known[name] = measure(name, benchmark, SIZES[:2] if options.quick else SIZES)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        with open(last, "w") as file:
            json.dump(known, file, indent=1)
    results = {name: known[name] for name in providers.PROVIDERS if name in known}
    os.makedirs(f"{options.output}/images", exist_ok=True)
    plots.draw_items(results, CALLS, f"{options.output}/images/comparison-items.svg")
    plots.draw_floods(results, {"nothing": "nothing", **FLOODS}, f"{options.output}/images/comparison-floods.svg")
    with open(f"{options.output}/comparison.md", "w") as file:
        file.write("".join(document(results)))


if __name__ == "__main__":
    main()
