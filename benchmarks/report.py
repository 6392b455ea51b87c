"""Reports on real files of clusterings: seconds to write, size, and seconds until Chromium has drawn the page.

For the largest file also the response times of a search that ends in a comparison and of an arrow key, and the heap size.

python -m benchmarks.report [--only NAME]      needs the folder `clusterings` of $CONGRUENCE_DATA
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from plotly.offline import get_plotlyjs

import congruence as cg
from congruence.inputs import files
from congruence.reporting.html import page_script
from tests.browser import Browser, program

#: size that no report may exceed, and seconds in which any page must be drawn
MOST_BYTES, MOST_SECONDS = 20e6, 2.0
#: most milliseconds from a search to the pair and for an arrow key, seconds of the first drawing, bytes of heap: 860 clusterings
MOST_SEARCH, MOST_KEY, MOST_FIRST, MOST_HEAP = 100, 50, 1.0, 60e6
#: seconds for 200 clusterings of 100,000 points on two cores
MOST_LARGE = 8.0
SEARCH = """(() => { const box = document.querySelector("#search"), began = performance.now(); box.value = "ward@k3";
  box.dispatchEvent(new Event("input")); document.querySelector("#ranking-table button.link").click();
  document.querySelector("#flow svg").getBoundingClientRect(); return performance.now() - began; })()"""
CLOSE = """(() => { document.querySelector("#panel-close").click(); document.body.getBoundingClientRect(); })()"""
KEY = """(() => { const heat = document.querySelector("#heat"), began = performance.now();
  heat.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown"})); heat.getContext("2d").getImageData(0, 0, 1, 1);
  return performance.now() - began; })()"""


def real_files(folder: Path) -> list[tuple[str, Any, dict[str, Any]]]:
    found = []
    for path in sorted(folder.glob("*.csv.gz")):
        columns, _ = files.without_ids(files.read_columns(path))
        ids = columns.pop("node", None)
        references = [name for name in columns if name.startswith("reference")]
        for name in references[1:]:  # one reference; the others are classes too, not clusterings
            del columns[name]
        options: dict[str, Any] = {"ids": ids, "reference": references[0] if references else None}
        found.append((path.name.removesuffix(".csv.gz"), columns, options))
    return found


def large() -> tuple[str, Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 20, 100_000)
    runs = {}
    for i in range(200):
        noise = rng.random(len(truth)) < rng.uniform(0.05, 0.6)
        runs[f"run {i}"] = np.where(noise, rng.integers(0, 20, len(truth)), truth)
    return "made: 200 x 100,000", runs, {"reference": truth}


def many_clusters() -> tuple[str, Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4000, 30_000)
    runs = {
        f"run {i}": np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 4000, len(truth)), truth) for i in range(5)
    }
    return "made: 5 x 30,000, 4000 clusters", runs, {"reference": truth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    folder = Path(os.environ.get("CONGRUENCE_DATA", "data")) / "clusterings"
    jobs = [*(real_files(folder) if folder.is_dir() else []), large(), many_clusters()]
    print(
        f"congruence {cg.__version__}, {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print("seconds: wall time; CPU: of all threads, which is more reliable on a shared machine")
    print(f"browser: {Path(program() or '').name or 'none here, so pages are not drawn'}")
    own, theirs = page_script(), get_plotlyjs()
    print(f"the script of a page: {len(own) / 1e3:.0f} kB; plotly's would be {len(theirs) / 1e6:.1f} MB")
    head = f"{'file':32} {'clusterings':>11} {'points':>8} {'pairs':>8} {'seconds':>8} {'CPU':>6}"
    print(f"{head} {'MB':>6} {'drawn in s':>10} {'CPU':>6}")
    failed = []
    with tempfile.TemporaryDirectory() as place:
        for name, columns, options in jobs:
            if only not in name:
                continue
            out = Path(place) / "report.html"
            began, worked = time.perf_counter(), time.process_time()
            made = cg.report(columns, out, title=name, source=f"{name}.csv", progress=False, **options)
            seconds, worked, size = time.perf_counter() - began, time.process_time() - worked, out.stat().st_size
            drawn = drawn_cpu = float("nan")
            if program():
                with Browser() as page:
                    drawn, drawn_cpu = _opened(page, out, 1280)
            pairs = "any" if made.model.pairs.labels is not None else "some"
            print(
                f"{name:32} {len(made.model.members):11,} {made.model.n_points:8,} {pairs:>8} {seconds:8.1f} {worked:6.1f} "
                f"{size / 1e6:6.2f} {drawn:10.2f} {drawn_cpu:6.2f}",
                flush=True,
            )
            print(f"  {made.summary.answer}", flush=True)
            if size > MOST_BYTES:
                failed.append(f"{name} is larger than {MOST_BYTES / 1e6:.0f} MB")
            if drawn_cpu > MOST_SECONDS:
                failed.append(f"{name} took {drawn_cpu:.2f} s of CPU to draw")
            if name.startswith("made: 200") and min(seconds, worked) > MOST_LARGE:
                failed.append(f"{name} took {seconds:.1f} s to write, and {worked:.1f} s of CPU")
            if len(made.model.members) == 860 and program():
                failed += _waited(out)
    print(f"peak memory of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
    print("all limits are met (by CPU time on a shared machine)" if not failed else "not kept: " + "; ".join(failed))
    sys.exit(bool(failed))


def _waited(path: Path) -> list[str]:
    """Response times of a page with 860 clusterings (median of five), and the limits that are exceeded."""
    with Browser() as page:
        drawn, worked = _opened(page, path, 1440)
        page.send("HeapProfiler.collectGarbage")
        usage = page.send("Runtime.getHeapUsage")
        heap = usage["usedSize"] + usage.get("backingStorageSize", 0)
        clock, cpu = {}, {}
        for name, script in (("search to pair", SEARCH), ("arrow key", KEY)):
            waits, works = [], []
            for _ in range(5):
                before = _busy(page)
                waits.append(page.run(script))
                works.append(1000 * (_busy(page) - before))
                page.run(CLOSE)
            clock[name], cpu[name] = float(np.median(waits)), float(np.median(works))
    told = ", ".join(f"{name} {clock[name]:.0f} ms (CPU {cpu[name]:.0f} ms)" for name in clock)
    print(
        f"  860 clusterings: drawn in {drawn:.2f} s (CPU {worked:.2f} s), {told}, heap {heap / 1e6:.0f} MB", flush=True
    )
    limits = (
        (worked, MOST_FIRST, "first drawing"), (cpu["search to pair"], MOST_SEARCH, "search to pair"),
        (cpu["arrow key"], MOST_KEY, "arrow key"), (heap, MOST_HEAP, "heap"),
    )  # fmt: skip
    return [f"860 clusterings: {what} {value:.4g}, limit {limit:g}" for value, limit, what in limits if value > limit]


def _opened(page: Browser, path: Path, width: int) -> tuple[float, float]:
    """Seconds until a page is drawn: by the clock, and of the CPU by the thread that draws it."""
    page.send("Performance.enable", timeDomain="threadTicks")
    page.size(width)
    before = _busy(page)
    seconds = page.open(path)
    after = _busy(page)
    assert not page.complaints, page.complaints
    return seconds, after - before if after > before else after  # a new process counts from 0


def _busy(page: Browser) -> float:
    """Seconds of the CPU that the thread of the page has used."""
    found = {x["name"]: x["value"] for x in page.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])


if __name__ == "__main__":
    main()
