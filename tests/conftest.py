"""Property tests use the same examples in every run; the fixture `route` runs a test once on each route of counting."""

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

if os.environ.get("CONGRUENCE_CUDA_STAND_IN"):  # before anything imports CuPy
    sys.path.insert(0, str(Path(__file__).with_name("cuda_stand_in")))

import pytest
from commands import Said, commands
from doors import ROUTES, on_route
from hypothesis import HealthCheck, settings

from congruence.machine import jit

gc.disable()  # until the tests are collected: a quarter of the time of collecting thousands of tests
settings.register_profile(
    "congruence", derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("congruence")
#: pages and files whose tests are all slow, outside the core of counting and measures
SLOW_FILES = {
    "alternatives.md", "choosing_k.md", "consensus.md", "covers.md", "gallery.md", "hierarchies.md", "large_data.md",
    "soft.md", "tutorial_cells.md", "tutorial_decision.md", "tutorial_monitoring.md", "tutorial_warehouse.md",
    "which_measure.md", "test_alternatives.py", "test_alternatives_methods.py", "test_axioms.py",
    "test_chance_adjusted.py", "test_chance_intervals.py", "test_chance_null_models.py",
    "test_chance_permutations.py", "test_choose_k.py", "test_choose_k_criteria.py", "test_choose_k_odd.py",
    "test_choose_k_parts.py", "test_coming_from.py", "test_coming_from_covers.py", "test_consensus.py",
    "test_consensus_edge.py", "test_consensus_methods.py", "test_consensus_sizes.py", "test_cover_report.py",
    "test_covers.py", "test_covers_values.py", "test_dask.py", "test_doctests.py", "test_figures.py",
    "test_hierarchies.py", "test_hierarchies_values.py", "test_matrices.py", "test_matrices_values.py",
    "test_peers.py", "test_report.py", "test_report_command.py", "test_report_model.py",
    "test_reproductions_consensus.py",
}  # fmt: skip


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process per core for the whole suite; a few files run in this process, which starts faster and can be debugged."""
    named = [argument for argument in config.invocation_params.args if ".py" in str(argument)]
    return (
        0
        if 0 < len(named) <= 3
        else len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow files for `-m "not slow"`: collecting them takes seconds."""
    return True if config.option.markexpr == "not slow" and collection_path.name in SLOW_FILES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files and pages as slow; others carry the mark themselves."""
    for item in items:
        if item.path.name in SLOW_FILES:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but do not visit what collecting tests has left."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup() -> None:
    """Forget the work of earlier tests: whether a loop is compiled depends on the test alone."""
    jit._work.clear()


@pytest.fixture(params=list(ROUTES))
def route(request: pytest.FixtureRequest):
    """The name of the route that all counting takes inside the test."""
    with on_route(request.param):
        yield request.param


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command line, run in this process and in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return commands(monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the labels of cli_cases.py as labels.csv."""
    from cli_cases import LABELS

    monkeypatch.chdir(tmp_path)
    LABELS.to_csv("labels.csv", index=False)
    return tmp_path


@pytest.fixture
def congruence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """The command line, run in this process and in the working folder."""
    return commands(monkeypatch, capsys)
