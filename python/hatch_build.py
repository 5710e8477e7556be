"""Puts the program espalier into wheels, beside the scripts of an environment.

The variable ESPALIER_PROGRAM names a program that was built before, for the GOOS and GOARCH of the
environment; without it, Go builds the program from the clone of the repository around this folder. Without
Go, or outside of a clone, the wheel has no program: it reads trees, and trains by another program.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLATFORMS = {  # a program of Go 1.26 needs no C library, and macOS 12
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


class ProgramHook(BuildHookInterface):  # type: ignore[misc]
    """Adds the program to a wheel, and the platform to its name."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._work = tempfile.mkdtemp()
        program = os.environ.get("ESPALIER_PROGRAM") or self._built()
        if program is None:
            self.app.display_warning("without Go, or outside of a clone, the wheel has no program espalier")
            return
        target = f"{_go('GOOS')}/{_go('GOARCH')}"
        if target not in PLATFORMS:
            raise ValueError(f"no wheels are known for {target}: want one of {', '.join(PLATFORMS)}")
        name = "espalier.exe" if target.startswith("windows") else "espalier"
        build_data["shared_scripts"][program] = name
        build_data["tag"] = f"py3-none-{PLATFORMS[target]}"
        build_data["pure_python"] = False
        if notices := os.environ.get("ESPALIER_NOTICES"):
            build_data["extra_metadata"][notices] = "THIRD_PARTY_NOTICES.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(getattr(self, "_work", ""), ignore_errors=True)

    def _built(self) -> str | None:
        """Returns a program that Go builds; None without Go or a clone."""
        if shutil.which("go") is None or not (ROOT / "cmd" / "espalier").is_dir():
            return None
        program = os.path.join(self._work, "espalier")
        build = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/espalier"]
        subprocess.run(build, cwd=ROOT, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        return program


def _go(name: str) -> str:
    """Returns a variable of Go."""
    given = os.environ.get(name)
    return given or subprocess.run(["go", "env", name], capture_output=True, encoding="utf-8", check=True).stdout.strip()
