"""Runs real command lines in processes of their own, with a home folder that is the test's."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run_cli() -> Callable[..., tuple[int, str]]:
    """Run one command line in a folder that is its home too; gives code and all it printed."""

    def run(home: Path, *arguments: str, **environ: str) -> tuple[int, str]:
        kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "schemory", *arguments],
            cwd=home,
            env={**kept, "HOME": str(home), "USERPROFILE": str(home), **environ},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    return run
