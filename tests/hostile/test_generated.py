"""Broken files and odd arguments from the generator: never a traceback, a crash, a wrong number or leftover files.

`python -m tests.hostile --cases 10000` runs more cases, in separate processes.
"""

import pytest

from hostile.cases import one_case

SEED, CHUNKS, CASES = 15, 25, 16


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_hostile_cases(chunk):
    """Each case ends with the right result or with a one-line error."""
    wrong = []
    for number in range(chunk * CASES, (chunk + 1) * CASES):
        what, complaints, kind = one_case(SEED, number, quick=True)
        wrong += [f"case {number} ({kind}): {what}: {x}" for x in complaints]
    assert not wrong, "\n".join(wrong)
