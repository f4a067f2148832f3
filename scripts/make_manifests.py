"""Make what registries and clients take: server.json, a bundle, a plugin; nothing of it is in git.

Usage: python scripts/make_manifests.py [--to dist] [--skill FOLDER]

Name, version, description and licence come from pyproject.toml, settings and tools from the
product itself, and the command line from `SERVE` below.
"""

import argparse
import json
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from schemory.app import MEMORY, open_app
from schemory.config import KEYS, load_settings

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "src" / "schemory" / "skills" / "memory-operator"

PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
NAME: str = PROJECT["name"]
VERSION: str = PROJECT["version"]
AUTHOR = {"name": PROJECT["authors"][0]["name"]}
TITLE = "Schemory"
REGISTRY_NAME = "io.github.schemory/schemory"
"""Proved by the line `mcp-name: …` in README.md, which the package index shows."""
SUMMARY = "A local memory for AI agents: typed graph and project notes, each with source and date"
"""At most 100 characters, as the registry wants it."""
SERVE = ("serve",)
RUNNER = "uvx"
OFFERED = ("MEMORY_DB_PATH", "MEMORY_PROJECT", "MEMORY_PACKS", "MEMORY_TOOLSET", "MEMORY_TOOLS")
"""Settings that the registry's entry tells of; docs/reference/settings.md has all."""

_STAMP = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a bundle, so that the same source gives the same bytes."""

_BUNDLE_START = f'''"""Starts the server that this bundle's pyproject.toml names."""

import sys

from schemory.cli.main import main

if __name__ == "__main__":
    sys.exit(main([{", ".join(f'"{word}"' for word in SERVE)}, *sys.argv[1:]]))
'''


def main() -> int:
    """Write everything below a folder; return 1 and say why if something is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    parser.add_argument("--skill", type=Path, default=SKILL)
    args = parser.parse_args()
    faults = list(find_faults(args.skill))
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        return 1
    for file, text in files().items():
        _write(args.to / file, text)
    skill = args.to / "claude-plugin" / NAME / "skills" / args.skill.name
    shutil.rmtree(skill, ignore_errors=True)
    shutil.copytree(args.skill, skill, ignore=shutil.ignore_patterns("evals", "__pycache__"))
    bundle = args.to / f"{NAME}-{VERSION}.mcpb"
    write_bundle(bundle)
    print(f"made in {args.to}: server.json, claude-plugin/, {bundle.name}")
    return 0


def find_faults(skill: Path) -> Iterator[str]:
    """Yield what keeps the files from being made or taken."""
    if not (skill / "SKILL.md").is_file():
        yield f"{skill} has no SKILL.md, which the plugin carries"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if f"mcp-name: {REGISTRY_NAME}" not in readme:
        yield f"README.md lacks `mcp-name: {REGISTRY_NAME}`, by which the registry knows us"


def files() -> Mapping[str, str]:
    """Return every text that is made, by its path below the folder."""
    plugin = f"claude-plugin/{NAME}"
    values: dict[str, Mapping[str, Any]] = {
        "server.json": server_json(),
        "claude-plugin/.claude-plugin/marketplace.json": marketplace(),
        f"{plugin}/.claude-plugin/plugin.json": plugin_manifest(),
        f"{plugin}/.mcp.json": {"mcpServers": {NAME: _entry()}},
        f"{plugin}/hooks/hooks.json": hooks(),
    }
    return {file: _json(value) for file, value in values.items()}


def server_json() -> Mapping[str, Any]:
    """Return the entry for the MCP registry, in its schema of 2025-12-11."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": TITLE,
        "description": SUMMARY,
        "version": VERSION,
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": NAME,
                "version": VERSION,
                "runtimeHint": RUNNER,
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": word} for word in SERVE],
                "environmentVariables": [
                    _variable(key.name) for key in KEYS if key.name in OFFERED
                ],
            }
        ],
    }


def _variable(name: str) -> Mapping[str, Any]:
    key = next(key for key in KEYS if key.name == name)
    told: dict[str, Any] = {"name": key.name, "description": key.meaning}
    return {**told, "placeholder": key.default} if key.default else told


def bundle_manifest() -> Mapping[str, Any]:
    """Return the manifest of the .mcpb bundle: the host's own uv installs the package."""
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": TITLE,
        "version": VERSION,
        "description": SUMMARY,
        "long_description": PROJECT["description"],
        "author": AUTHOR,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "src/server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "src/server.py"],
            },
        },
        "tools": tools(),
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }


def tools() -> list[Mapping[str, str]]:
    """Return the tools that are served when nothing is set, for shops' windows."""
    home = Path("/nonexistent")
    settings = load_settings({"MEMORY_DB_PATH": MEMORY}, environ={}, cwd=home, home=home)
    with open_app(settings) as app:
        listed = app.toolbox.list_tools()
    return [{"name": str(t["name"]), "description": str(t["description"])} for t in listed]


def write_bundle(file: Path) -> None:
    """Write the .mcpb bundle; the same source gives the same bytes."""
    requirements = _json([f"{NAME}=={VERSION}"]).strip()
    project = (
        f'[project]\nname = "{NAME}-bundle"\nversion = "{VERSION}"\n'
        f'requires-python = "{PROJECT["requires-python"]}"\ndependencies = {requirements}\n'
    )
    texts = {
        "manifest.json": _json(bundle_manifest()),
        "pyproject.toml": project,
        "src/server.py": _BUNDLE_START,
        "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in texts.items():
            bundle.writestr(zipfile.ZipInfo(name, _STAMP), text, zipfile.ZIP_DEFLATED)


def marketplace() -> Mapping[str, Any]:
    """Return the catalogue that makes the folder a marketplace of one plugin."""
    listed = {"name": NAME, "source": f"./{NAME}", "description": SUMMARY}
    return {"name": NAME, "description": SUMMARY, "owner": AUTHOR, "plugins": [listed]}


def plugin_manifest() -> Mapping[str, Any]:
    """Return the plugin's own manifest; its server, hook and skill lie where they are expected."""
    return {
        "name": NAME,
        "version": VERSION,
        "description": SUMMARY,
        "author": AUTHOR,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
    }


def hooks() -> Mapping[str, Any]:
    """Return the hook that tells an agent at its start what the project's memory holds."""
    command = " ".join([RUNNER, "--quiet", f"{NAME}=={VERSION}", "brief"])
    hook = {"type": "command", "command": command, "timeout": 20}
    started = {"matcher": "startup|clear|compact", "hooks": [hook]}
    return {
        "description": "Tells what the project's memory holds",
        "hooks": {"SessionStart": [started]},
    }


def _entry() -> Mapping[str, Any]:
    return {"command": RUNNER, "args": [f"{NAME}=={VERSION}", *SERVE]}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
