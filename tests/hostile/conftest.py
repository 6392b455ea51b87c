"""Fixtures of the tests with hostile input."""

import pytest

from hostile.running import run

LABELS = "a,b,c\n0,x,1\n0,x,2\n1,y,2\n1,x,1\n"


@pytest.fixture
def refused(tmp_path):
    """Run a command that has to be refused: exit 2, nothing printed, one line on stderr."""
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")

    def check(*words, code=2):
        said = run([*words], tmp_path)
        assert (said.code, said.out) == (code, ""), said
        lines = [line for line in said.err.splitlines() if not line.startswith("note: ")]
        assert len(lines) == 1
        assert lines[0].startswith("congruence: ")
        return lines[0]

    return check
