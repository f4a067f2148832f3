"""What registries and clients take: made from one place, of the form they want."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import schemory
from schemory.setup.clients.entry import Entry
from schemory.setup.clients.verify import try_entry

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "scripts" / "make_manifests.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the script makes."""
    folder = tmp_path_factory.mktemp("dist")
    _run("--to", str(folder))
    return folder


def _run(*arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.covers("setup.manifests")
def test_the_registrys_entry_has_the_form_of_its_schema(made: Path) -> None:
    entry = _read(made / "server.json")
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert entry["version"] == schemory.__version__
    (package,) = entry["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "schemory")
    assert package["version"] == schemory.__version__
    assert package["transport"] == {"type": "stdio"}
    assert package["packageArguments"] == [{"type": "positional", "value": "serve"}]
    assert {"MEMORY_DB_PATH", "MEMORY_PACKS"} <= {
        variable["name"] for variable in package["environmentVariables"]
    }


@pytest.mark.covers("setup.manifests")
def test_the_readme_proves_that_the_registrys_name_is_ours(made: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [_read(made / "server.json")["name"]]


@pytest.mark.covers("setup.manifests")
def test_the_plugin_brings_server_hook_and_skill(made: Path) -> None:
    catalogue = _read(made / "claude-plugin" / ".claude-plugin" / "marketplace.json")
    (listed,) = catalogue["plugins"]
    plugin = made / "claude-plugin" / listed["source"]
    manifest = _read(plugin / ".claude-plugin" / "plugin.json")
    assert (manifest["name"], manifest["version"]) == ("schemory", schemory.__version__)
    pinned = f"schemory=={schemory.__version__}"
    server = _read(plugin / ".mcp.json")["mcpServers"]["schemory"]
    assert server == {"command": "uvx", "args": [pinned, "serve"]}
    (started,) = _read(plugin / "hooks" / "hooks.json")["hooks"]["SessionStart"]
    assert started["hooks"][0]["command"] == f"uvx --quiet {pinned} brief"
    assert (plugin / "skills" / "memory-operator" / "SKILL.md").is_file()


@pytest.mark.covers("setup.manifests")
def test_the_bundle_starts_the_server_and_lists_its_tools(made: Path, tmp_path: Path) -> None:
    (file,) = made.glob("*.mcpb")
    with zipfile.ZipFile(file) as bundle:
        bundle.extractall(tmp_path)
    manifest = _read(tmp_path / "manifest.json")
    assert manifest["manifest_version"] == "0.4"
    assert manifest["version"] == schemory.__version__
    assert f'"schemory=={schemory.__version__}"' in (tmp_path / "pyproject.toml").read_text()
    entry = Entry(command=sys.executable, args=(str(tmp_path / manifest["server"]["entry_point"]),))
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    trial = try_entry(entry, environ=environ, folder=str(tmp_path))
    assert trial.fault is None
    assert trial.tools == len(manifest["tools"])


@pytest.mark.covers("setup.manifests")
def test_the_same_source_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    _run("--to", str(tmp_path))
    for file in made.rglob("*"):
        if file.is_file():
            assert (tmp_path / file.relative_to(made)).read_bytes() == file.read_bytes()


@pytest.mark.covers("setup.manifests")
def test_nothing_is_made_without_the_skill(tmp_path: Path) -> None:
    told = _run("--to", str(tmp_path), "--skill", str(tmp_path / "none"), code=1)
    assert "has no SKILL.md" in told
    assert list(tmp_path.iterdir()) == []
