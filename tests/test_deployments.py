"""The recipes of docs/large_data.md on the systems they name: Ray, Spark, Slurm, Kubernetes. Each needs its system.

pip install ray pyspark dask-jobqueue dask-kubernetes       Spark wants Java, Slurm a cluster that `sbatch` reaches
"""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg

PAGE = Path(__file__).parents[1] / "docs" / "large_data.md"


def recipe(heading: str) -> tuple[str, str]:
    """The code under a heading of the page: its Python without prompts, and other code."""
    section = PAGE.read_text(encoding="utf-8").partition(f"### {heading}\n")[2].partition("\n#")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, flags=re.M | re.S)
    python = "\n".join(block for language, block in blocks if language == "python")
    lines = [line[4:] for line in python.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(lines), "\n".join(block for language, block in blocks if not language)


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Three files of labels in a folder, and the names that the page defines before the recipes."""
    rng = np.random.default_rng(0)
    data = tmp_path / "labels"
    data.mkdir()
    for i in range(3):
        truth = rng.integers(0, 4, 1000)
        runs = {f"run{r}": np.where(rng.random(1000) < 0.2, rng.integers(0, 4, 1000), truth) for r in range(3)}
        parquet.write_table(pa.table({"truth": truth, **runs}), data / f"part-{i}.parquet", row_group_size=250)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # Spark takes python3 of the path else
    return {
        "__name__": "__main__",
        "cg": cg,
        "pa": pa,
        "parquet": parquet,
        "data": data,
        "again": cg.compare_all(cg.scan(data)),
    }


def test_ray_through_joblib(labels):
    """The recipe with Ray as the backend of joblib gives the integers of this process."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        python, _ = recipe("Ray and joblib")
        assert 'backend="threading"' in python
        exec(python.replace('backend="threading"', 'backend="ray"'), labels)
    finally:
        ray.shutdown()
    assert labels["total"].rows == 3000
    assert (cg.compare_all(labels["total"])["ari"] == labels["again"]["ari"]).all()


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_by_map_in_arrow(labels):
    """The recipe run by Spark itself gives the integers of this process."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark, and Java")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    python, plain = recipe("Spark")
    count, _, _ = python.partition("\nfound = ")
    builder: Any = SparkSession.builder
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for key, value in settings.items():
        builder = builder.config(key, value)
    labels["spark"] = builder.master("local[2]").getOrCreate()
    try:
        exec(f"{count}\n{plain}", labels)
    finally:
        labels["spark"].stop()
    total = sum(cg.PartialTables.from_bytes(bytes(row["tables"])) for row in labels["found"])
    assert total.rows == 3000
    assert cg.ari(total["truth"], total["run0"]) == labels["again"]["ari"][0, 1]


def test_slurm_by_dask_jobqueue(labels, tmp_path):
    """The recipe with workers that Slurm starts gives the integers of this process."""
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed: pip install dask-jobqueue")
    if shutil.which("sbatch") is None:
        pytest.skip("there is no Slurm here: sbatch is not installed")
    _, plain = recipe("Slurm and Kubernetes")
    lines = plain.partition("from dask_kubernetes")[0]
    small = 'cores=1, memory="1GB", interface="lo", '
    for page, here in (
        ('cores=8, memory="16GB", ', small), ("jobs=10", "jobs=2"), ("/shared/", f"{tmp_path}/"),
        ("cg.compare_all", "found = cg.compare_all"),
    ):  # fmt: skip
        assert page in lines, f"the page no longer says {page}"
        lines = lines.replace(page, here)
    try:
        exec(lines, labels)
    finally:
        labels["cluster"].close()
    assert (labels["found"]["ari"] == labels["again"]["ari"]).all()
    assert list((tmp_path / "saved").glob("*.part"))


def test_kubernetes_has_what_the_recipe_calls():
    """The operator's cluster takes what the page passes; starting one needs Kubernetes."""
    operator = pytest.importorskip(
        "dask_kubernetes.operator", reason="dask-kubernetes is not installed: pip install dask-kubernetes"
    )
    _, plain = recipe("Slurm and Kubernetes")
    passed = re.findall(r"(\w+)=", re.findall(r"KubeCluster\((.*)\)", plain)[0])
    assert set(passed) <= set(inspect.signature(operator.KubeCluster.__init__).parameters), passed
    assert hasattr(operator.KubeCluster, "get_client")
