"""`python -m tests.hostile --cases 10000 --seed 1`: hostile files and odd arguments, with a summary at the end.

Cases run in worker processes, so that a crash or a hang is one failed case. `--only 123` runs one case in this process, with its traceback.
"""

from __future__ import annotations

import argparse
import collections
import json
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.calls import REACHED
from hostile.cases import one_case
from hostile.surface import everything

LONGEST = 120  # seconds without output after which a worker counts as hanging
MEMORY = 12 * 2**30  # bytes of address space of a worker


def work(seed: int, numbers: range) -> None:
    """Run cases, printing the number of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in numbers:
        print(f"START {number}", flush=True)
        began = time.perf_counter()
        what, wrong, kind = one_case(seed, number)
        taken = time.perf_counter() - began
        if taken > 60:
            wrong = [*wrong, f"took {taken:.0f} s"]
        for line in wrong:
            print(f"WRONG {number}\t{kind}\t{what}\t{line}".replace("\n", "\\n").replace("\r", "\\r"), flush=True)
        print(f"DONE {number}\t{kind.partition(':')[0]}", flush=True)
    print("REACHED " + json.dumps(sorted(REACHED)), flush=True)


def forward(stream: Any, lines: queue.Queue[str]) -> None:
    """Put each line of a worker into a queue, and an empty one at the end."""
    for line in stream:
        lines.put(line)
    lines.put("")


def main() -> int:
    """Run the cases; 0 if none failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--cases", type=int, default=300, help="how many cases")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same cases")
    parser.add_argument("--only", type=int, help="run this case here, and show its traceback")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.cases)
    if options.worker:
        work(options.seed, numbers)
        return 0
    if options.only is not None:
        what, wrong, kind = one_case(options.seed, options.only, loud=True)
        print(f"{kind}\n{what}\n" + ("\n".join(f"WRONG: {x}" for x in wrong) or "right"))
        return bool(wrong)
    failures, kinds, began, done = [], collections.Counter[str](), time.perf_counter(), 0
    first, reached = numbers.start, set[str]()
    while first < numbers.stop:
        last = first
        with tempfile.TemporaryFile("w+") as said:
            command = [sys.executable, "-m", "tests.hostile", "--worker", "--seed", str(options.seed)]
            command += ["--first", str(first), "--cases", str(min(500, numbers.stop - first))]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True)
            lines: queue.Queue[str] = queue.Queue()
            threading.Thread(target=forward, args=(child.stdout, lines), daemon=True).start()
            hung = False
            while True:
                try:
                    line = lines.get(timeout=LONGEST)
                except queue.Empty:
                    hung = True
                    child.kill()
                    break
                if not line:
                    break
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "START":
                    last = int(rest)
                elif word == "WRONG":
                    failures.append(rest)
                    print("FAILED " + rest.replace("\t", " | "), flush=True)
                elif word == "REACHED":
                    reached |= set(json.loads(rest))
                elif word == "DONE":
                    kinds[rest.partition("\t")[2]] += 1
                    done += 1
            code = child.wait()
            if hung or code != 0:
                said.seek(0)
                tail = said.read()[-1500:]
                failures.append(f"{last}\tcrash\t\t{'hung' if hung else f'process ended with {code}'}: {tail}")
                print(f"FAILED {failures[-1]}", flush=True)
                done += 1
            first = last + 1
    print(f"\n{done:,} cases, seed {options.seed}, {time.perf_counter() - began:.0f} s")
    print("  " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items())))
    names, options = everything()
    called = {x.partition("(")[0] for x in reached}
    print(f"{len(names & called)} of {len(names)} public functions and methods; never called: {sorted(names - called)}")
    print(
        f"{len(options & reached)} of {len(options)} options of commands and arguments; never given: {sorted(options - reached)}"
    )
    failed = {f.partition("\t")[0] for f in failures}
    print(f"{len(failed)} failed cases")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
