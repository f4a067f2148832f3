"""From flags, environment and config file to `Settings`, with every problem at once.

Precedence: flags, the process environment, the config file, defaults. Within one of them the store
is chosen in the order `MEMORY_FILE`, `MEMORY_FILE_PATH`, `MEMORY_DB_PATH`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from schemory.config.environment import home_of, working_folder
from schemory.config.keys import (
    CONFIG_FILE_NAME,
    HOME_FOLDER,
    KEY_BY_NAME,
    KEYS,
    VECTOR_FOLDER,
    SettingKey,
)
from schemory.config.references import find_unfilled
from schemory.config.settings import DEFAULT_SPACE, Raw, Settings, mask_url
from schemory.errors import ConfigError, Problem, SchemoryError
from schemory.hints import cast
from schemory.model.frozen import dataclass, field, replace
from schemory.model.project import GIT_PREFIX, PATH_PREFIX, ProjectIdentity

_PREFIX = "MEMORY_"
_STORE_KEYS = ("MEMORY_FILE", "MEMORY_FILE_PATH", "MEMORY_DB_PATH")
_PROJECT_KEYS = ("MEMORY_PROJECT", "MEMORY_PROJECT_ID")
_ROOTS = "MEMORY_ALLOWED_ROOTS"
_AUDIT_FILE = "MEMORY_AUDIT_JSONL"
_DEFAULTS = ("MEMORY_SCOPE_DEFAULT", "MEMORY_ALLOWED_TAGS")
_VECTORS = "MEMORY_VECTOR_BACKEND"
_AUTH_FILE = "MEMORY_HTTP_AUTH_FILE"
_TOKEN = "MEMORY_HTTP_TOKEN"  # noqa: S105 (a setting's name)
_URL_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class _Layer:
    """Where values come from: `flag`, `environment` or the config file's path."""

    title: str
    values: Mapping[str, Raw]


@dataclass(slots=True)
class _Findings:
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[str] = field(default_factory=list[str])

    def add(self, path: str, message: str, nearest: tuple[str, ...] = ()) -> None:
        self.problems.append(
            Problem(code="INVALID_PARAM", path=path, message=message, nearest=nearest)
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A value and what to call its origin in messages."""

    raw: Raw
    source: str


@dataclass(slots=True)
class _Loader:
    layers: tuple[_Layer, ...]
    cwd: str
    home: str
    findings: _Findings

    def find(self, *names: str) -> tuple[str, _Found] | None:
        """Return the first of `names` in the highest layer that has any of them."""
        for layer in self.layers:
            for name in names:
                raw = layer.values.get(name)
                if raw:
                    return name, _Found(raw, _source(name, layer))
        return None

    def parsed(self, key: SettingKey) -> tuple[object, ...]:
        """Return the values of `key`, one for a plain setting; a problem is noted."""
        found = self.find(key.name)
        raw, source = (found[1].raw, found[1].source) if found else (key.default, "default")
        values: list[object] = []
        for text in _split(raw, key.separator):
            try:
                values.append(key.parse(text))
            except ValueError as fault:
                shown = mask_url(text)
                self.findings.add(source, f"{source} is {shown!r}; allowed: {fault}")
        return tuple(values)

    def value(self, name: str) -> object:
        """Return the one value of a plain setting."""
        key = KEY_BY_NAME[name]
        values = self.parsed(key)
        return values[-1] if values else key.parse(key.default)

    def path(self, text: str, source: str) -> str:
        """Return `text` as an absolute path: `~` is the home folder, the rest relative to cwd."""
        if "\0" in text:
            self.findings.add(source, f"{source} holds a NUL character; allowed: a path")
            return self.cwd
        if text == "~" or text.startswith(("~/", "~" + os.sep)):
            return _joined(self.home, text[2:])
        return _joined(self.cwd, text)

    def own(self, *names: str) -> str:
        """Return the path of something in the folder that the product has in the home folder."""
        return os.path.join(self.home, *HOME_FOLDER.split("/"), *names)


def _joined(folder: str, text: str) -> str:
    """Return a path as seen from `folder`, absolute; symbolic links are not followed."""
    return os.path.abspath(os.path.join(folder, text))


def load_settings(
    overrides: Mapping[str, Raw],
    *,
    environ: Mapping[str, str] | None = None,
    cwd: os.PathLike[str] | None = None,
    home: os.PathLike[str] | None = None,
) -> Settings:
    """Return the settings of this run.

    Args:
        overrides: What the command line says, by setting name (`MEMORY_TOOLS`: "compact").
        environ: The process environment; None = the real one.
        cwd: What relative paths are relative to; None = the real one.
        home: The user's home folder; None = the real one.

    Raises:
        ConfigError: Values that do not parse; each names key, value and what is allowed.
    """
    environment = os.environ if environ is None else environ
    findings = _Findings()
    own = {name: environment[name] for name in environment if name.startswith(_PREFIX)}
    for name, told in find_unfilled(own):
        findings.add(name, told)
    loader = _Loader(
        layers=(_Layer("flag", overrides), _Layer("environment", own)),
        cwd=os.fspath(cwd) if cwd else working_folder(),
        home=os.fspath(home) if home else home_of(environment),
        findings=findings,
    )
    config_file = _config_file(loader)
    if config_file is not None:
        loader.layers = (*loader.layers, _read_config(config_file, findings))
    _warn_unknown(loader)
    settings = _assemble(loader, config_file)
    if findings.problems:
        count = len(findings.problems)
        first = findings.problems[0].message
        raise ConfigError(
            first if count == 1 else f"{count} settings cannot be used; the first: {first}",
            problems=findings.problems,
        )
    return settings


def _source(name: str, layer: _Layer) -> str:
    if layer.title == "flag":
        return KEY_BY_NAME[name].flag or name
    return name if layer.title == "environment" else f"{name} in {layer.title}"


def _split(raw: Raw, separator: str | None) -> tuple[str, ...]:
    texts = (raw,) if isinstance(raw, str) else raw
    if separator is None or (separator == os.pathsep and not isinstance(raw, str)):
        # Paths that come one by one (flags, a list in the file) may hold the separator.
        return texts
    parts = (part.strip() for text in texts for part in text.split(separator))
    return tuple(dict.fromkeys(part for part in parts if part))


def _config_file(loader: _Loader) -> str | None:
    found = loader.find("MEMORY_CONFIG")
    if found is not None:
        return loader.path(str(found[1].raw), found[1].source)
    database = loader.find("MEMORY_DB_PATH")
    if database is not None and str(database[1].raw).startswith((*_URL_SCHEMES, ":memory:")):
        return None
    folder = (
        loader.own()
        if database is None
        else os.path.dirname(loader.path(str(database[1].raw), database[1].source))
    )
    beside = os.path.join(folder, CONFIG_FILE_NAME)
    return beside if os.path.isfile(beside) else None


def _read_config(title: str, findings: _Findings) -> _Layer:
    try:
        with open(title, encoding="utf-8-sig") as file:
            data: object = json.load(file)
    except OSError as fault:
        findings.add(title, f"The config file {title} cannot be read: {fault.strerror}")
        return _Layer(title, {})
    except ValueError as fault:
        findings.add(title, f"The config file {title} is no JSON: {fault}")
        return _Layer(title, {})
    if not isinstance(data, dict):
        findings.add(title, f"The config file {title} must hold one JSON object of settings")
        return _Layer(title, {})
    values: dict[str, Raw] = {}
    for name, value in cast("dict[str, object]", data).items():
        raw = _raw(value)
        if raw is None:
            findings.add(
                f"{name} in {title}",
                f"{name} in {title} must be a text, a number, true, false or a list of texts",
            )
        else:
            values[name] = raw
    return _Layer(title, values)


def _raw(value: object) -> Raw | None:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        items = cast("list[object]", value)
        if all(isinstance(item, str) for item in items):
            return tuple(str(item) for item in items)
    return None


def _warn_unknown(loader: _Loader) -> None:
    for layer in loader.layers[1:]:
        for name in sorted(set(layer.values) - set(KEY_BY_NAME)):
            import difflib  # noqa: PLC0415 (only needed for a typo)

            near = difflib.get_close_matches(name, KEY_BY_NAME, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            loader.findings.warnings.append(f"{name} ({layer.title}) is no setting{hint}")


def _assemble(loader: _Loader, config_file: str | None) -> Settings:
    database, graph_file, store_source = _store(loader)
    project, space_source = _project(loader)
    toolsets = tuple(str(name) for name in loader.parsed(KEY_BY_NAME["MEMORY_TOOLSET"]))
    if graph_file is not None and loader.find("MEMORY_TOOLSET") is None:
        toolsets = ("graph",)
    manage_schemas = bool(loader.value("MEMORY_MANAGE_SCHEMAS"))
    if manage_schemas and "admin" not in toolsets:
        toolsets = (*toolsets, "admin")
    return Settings(
        database=database,
        graph_file=graph_file,
        store_source=store_source,
        space=project.id if project else DEFAULT_SPACE,
        space_source=space_source,
        project=project,
        schema_folders=_schema_folders(loader),
        schemas_named=loader.find("MEMORY_SCHEMAS") is not None,
        packs=_packs(loader),
        strict_types=bool(loader.value("MEMORY_STRICT_TYPES")),
        toolsets=toolsets,
        tools=str(loader.value("MEMORY_TOOLS")),
        manage_schemas=manage_schemas,
        allow_cross_project=bool(loader.value("MEMORY_ALLOW_CROSS_PROJECT")),
        response_budget=cast("int", loader.value("MEMORY_RESPONSE_BUDGET")),
        debug=bool(loader.value("MEMORY_DEBUG")),
        use_sdk=bool(loader.value("MEMORY_SDK")),
        memory=_memory(loader, database),
        http=_http(loader),
        working_folder=loader.cwd,
        config_file=config_file,
        warnings=tuple(loader.findings.warnings),
    )


def _http(loader: _Loader) -> Mapping[str, object]:
    """Return the HTTP server's settings by key, its paths absolute; none where it is not asked for.

    A token in a file that others read, or on a command line that `ps` shows, would be no secret.
    """
    if loader.find("MEMORY_HTTP") is None:
        return {}
    for layer in loader.layers:
        if layer.title != "environment" and layer.values.get(_TOKEN):
            source = _source(_TOKEN, layer)
            loader.findings.add(source, f"{source} is not allowed; set it in the environment")
    values = {
        key.name: loader.parsed(key) if key.separator else loader.value(key.name)
        for key in KEYS
        if key.group == "http" and key.name != "MEMORY_HTTP"  # which has no default to fall back to
    }
    named = loader.find(_AUTH_FILE)
    return {
        **values,
        "MEMORY_HTTP": next(iter(loader.parsed(KEY_BY_NAME["MEMORY_HTTP"])), None),
        _AUTH_FILE: loader.path(str(named[1].raw), named[1].source) if named else None,
    }


def _memory(loader: _Loader, database: str) -> Mapping[str, object]:
    """Return the memory's settings by key, its paths absolute."""
    values = {
        key.name: loader.parsed(key) if key.separator else loader.value(key.name)
        for key in KEYS
        if key.group == "memory"
    }
    own = {
        _ROOTS: _roots(loader),
        _AUDIT_FILE: _audit_file(loader, database),
        _VECTORS: _vector_backend(loader, str(values[_VECTORS])),
    }
    if any(values[key] for key in _DEFAULTS):
        from schemory.config.defaults import unusable_defaults  # noqa: PLC0415 (few give one)

        for key, fault in unusable_defaults(values):
            if found := loader.find(key):
                loader.findings.add(found[1].source, f"{found[1].source} cannot be used: {fault}")
    return {**values, **own}


def _vector_backend(loader: _Loader, text: str) -> str:
    """Return the model that makes vectors, the path of its folder absolute."""
    found = loader.find(_VECTORS)
    if found is None or not text.startswith(VECTOR_FOLDER):
        return text
    return f"{VECTOR_FOLDER}{loader.path(text.removeprefix(VECTOR_FOLDER), found[1].source)}"


def _roots(loader: _Loader) -> tuple[str, ...]:
    found = loader.find(_ROOTS)
    source = found[1].source if found else "default"
    return tuple(loader.path(str(root), source) for root in loader.parsed(KEY_BY_NAME[_ROOTS]))


def _audit_file(loader: _Loader, database: str) -> str | None:
    """Return the file that audit rows are appended to; `1` names one beside the database."""
    found = loader.find(_AUDIT_FILE)
    if found is None:
        return None
    text, source = str(found[1].raw), found[1].source
    try:
        is_on = KEY_BY_NAME["MEMORY_AUDIT_LOG"].parse(text)
    except ValueError:
        return loader.path(text, source)
    is_place = database == ":memory:" or database.startswith(_URL_SCHEMES)
    folder = loader.own() if is_place else os.path.dirname(database)
    return os.path.join(folder, "audit", "memory-write-log.jsonl") if is_on else None


def _packs(loader: _Loader) -> tuple[str, ...]:
    names = tuple(str(name) for name in loader.parsed(KEY_BY_NAME["MEMORY_PACKS"]))
    if not names:
        return names
    from schemory.model.likeness import nearest  # noqa: PLC0415 (only for a mistake)
    from schemory.schemas.load import pack_names  # noqa: PLC0415 (most runs name no pack)

    known, found = pack_names(), loader.find("MEMORY_PACKS")
    source = found[1].source if found else "default"
    for name in names:
        if name not in known:
            allowed = ", ".join(known)
            message = f"{source} is {name!r}; allowed: one of {allowed}"
            loader.findings.add(source, message, nearest=nearest(name, known))
    return tuple(name for name in names if name in known)


def _store(loader: _Loader) -> tuple[str, str | None, str]:
    """Return the database, the graph file if that is the store, and what chose."""
    flags = loader.layers[0].values
    if flags.get("MEMORY_FILE") and flags.get("MEMORY_DB_PATH"):
        loader.findings.add("--db", "--db and --graph-file exclude each other; give one of them")
    chosen = loader.find(*_STORE_KEYS)
    named = loader.find("MEMORY_DB_PATH")
    default = loader.own("memory.sqlite")
    database = _database(str(named[1].raw), named[1].source, loader) if named else default
    if chosen is None:
        return database, None, "default"
    name, found = chosen
    if name == "MEMORY_DB_PATH":
        return database, None, found.source
    return database, loader.path(str(found.raw), found.source), found.source


def _database(text: str, source: str, loader: _Loader) -> str:
    if text == ":memory:" or text.startswith(_URL_SCHEMES):
        return text
    if "://" in text:
        shown = mask_url(text)
        loader.findings.add(
            source, f"{source} is {shown!r}; allowed: a path, or a postgresql:// URL"
        )
        return text
    return loader.path(text, source)


def _project(loader: _Loader) -> tuple[ProjectIdentity | None, str]:
    """Return the project that was named, if any, and what named it."""
    found = loader.find(*_PROJECT_KEYS)
    if found is None:
        return None, "default"
    # Hashing and reading git's files is only for those who name a project.
    from schemory.identity.resolve import (  # noqa: PLC0415 (see above)
        ProjectRules,
        real_roots,
        resolve_project,
    )

    name, value = found
    text = str(value.raw)
    is_path = name == "MEMORY_PROJECT" and _is_path(text, loader)
    path = loader.path(text, value.source) if is_path else None
    rules = ProjectRules(
        allowed_roots=real_roots(_roots(loader)),
        max_id_chars=cast("int", loader.value("MEMORY_MAX_PROJECT_ID_CHARS")),
    )
    try:
        project = resolve_project(path, None if is_path else text, rules)
    except SchemoryError as error:
        told = f"{value.source} is {text!r}: {error.message}; allowed: a folder, or a project's id"
        loader.findings.add(value.source, told)
        return None, value.source
    loader.findings.warnings.extend(project.warnings)
    named = str(loader.value("MEMORY_PROJECT_DISPLAY_NAME"))
    return replace(project, display_name=named or project.display_name), value.source


def _is_path(text: str, loader: _Loader) -> bool:
    """Return whether a project is named by its folder; a name alone is one only if it exists."""
    if text.startswith((GIT_PREFIX, PATH_PREFIX)):
        return False
    looks_so = text in {".", "..", "~"} or "/" in text or os.sep in text
    return looks_so or os.path.isdir(loader.path(text, ""))


def _schema_folders(loader: _Loader) -> tuple[str, ...]:
    found = loader.find("MEMORY_SCHEMAS")
    if found is None:
        return (loader.own("schemas"),)
    _, value = found
    texts = _split(value.raw, KEY_BY_NAME["MEMORY_SCHEMAS"].separator)
    folders = tuple(loader.path(text, value.source) for text in texts)
    for folder in folders:
        if not os.path.isdir(folder):
            loader.findings.add(
                value.source, f"{value.source} names {folder!r}, which is no folder"
            )
    return folders
