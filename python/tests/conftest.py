"""Fixtures: the program espalier, and the public data sets."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from espalier.program import find

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def espalier(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program: the one that the package finds, or one that Go builds of this repository."""
    try:
        return find()
    except FileNotFoundError:
        if shutil.which("go") is None:
            pytest.skip("neither the program espalier nor Go is there")
    program = tmp_path_factory.mktemp("program") / "espalier"
    subprocess.run(["go", "build", "-o", str(program), "./cmd/espalier"], cwd=ROOT, check=True)
    return str(program)


@pytest.fixture(scope="session")
def data() -> Callable[[str], Any]:
    """Returns the rows of a data set, an Arrow table, by its name; skips the test if it is absent."""

    def read(name: str) -> Any:
        for folder in (ROOT / "bench" / "data", ROOT.parent / "shared" / "data"):
            files = sorted((folder / name).glob("*.parquet"))
            if files:
                return pa.concat_tables([pq.read_table(file) for file in files])
        pytest.skip(f"the data set {name} is absent: bench/datasets.py copies it")

    return read
