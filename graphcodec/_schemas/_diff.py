"""What a change to classes means for documents that were written before it.

Two schemas of `Codec.json_schema` are compared. A change breaks if there is a document
that the old codec read and the new one refuses, or takes for something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from attrs import frozen

from graphcodec._schemas._parts import referred
from graphcodec._schemas._wire import NOTE
from graphcodec.errors import InvalidValueError

Schema: TypeAlias = Mapping[str, Any]
Severity: TypeAlias = Literal["error", "warning", "note"]

_RANKS: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "note": 2}
_UNTYPED: Final = "#/$defs/$untyped"
_RARE: Final = {
    "$int": "an int beyond 64 bits",
    "$float": "a nan or inf",
    "$str": "text with lone surrogates",
}
_UNKNOWN: Final = ("$opaque", "$class", "$member", "$literal")
"""What stands in a schema for what is not known, and kept."""

_KEPT: Final = "is not known any more: what holds it is kept as an OpaqueNode"
_LITERALS: Final = ("string", "integer", "boolean", "null")
_MARKED_TEXT: Final = ("#/$defs/$int", "#/$defs/$float", "#/$defs/$str")


@frozen
class Change:
    """One difference between two schemas.

    Attributes:
        severity: ``error`` if it breaks old documents, ``warning`` if some of them
            may come back changed, ``note`` if it breaks none.
        kind: What was changed: ``tag``, ``alias``, ``version``, ``field``, ``type``,
            ``member``, ``form``, ``unknown``.
        where: The tag of the class, with a dot and the field if it is about one.
        message: What it means.
        hint: What to do.
    """

    severity: Severity
    kind: str
    where: str
    message: str
    hint: str = ""


def compare(old: object, new: object) -> list[Change]:
    """Return what was changed, what breaks first.

    Args:
        old: The schema of the codec that wrote the documents.
        new: The schema of the codec that is to read them.

    Raises:
        InvalidValueError: If one of them is no schema of ours.
    """
    before, after = _Classes(old, "old"), _Classes(new, "new")
    changes = [*_policies(before, after), *_tags(before, after)]
    return sorted(changes, key=lambda change: (_RANKS[change.severity], change.where))


class _Classes:
    """The classes of one schema, by their tags."""

    def __init__(self, schema: object, name: str) -> None:
        given = cast("Schema", schema if isinstance(schema, dict) else {})
        if given.get(f"{NOTE}wire") != 1 or not isinstance(given.get("$defs"), dict):
            msg = f"the {name} schema was not written by graphcodec"
            raise InvalidValueError(msg, hint="write one: graphcodec schema -o FILE")
        self.keeps_types = given.get(f"{NOTE}unknown-types") == "keep"
        self.parts = given["$defs"]
        self.own: dict[str, Schema] = {
            part[f"{NOTE}tag"]: part
            for part in self.parts.values()
            if isinstance(part, dict) and f"{NOTE}tag" in part
        }
        self.names = {
            name: tag
            for tag, part in self.own.items()
            for name in (tag, *part[f"{NOTE}aliases"])
        }


def _note(schema: Schema, name: str) -> Any:
    return schema.get(f"{NOTE}{name}")


def _policies(old: _Classes, new: _Classes) -> Iterator[Change]:
    if old.keeps_types and not new.keeps_types:
        msg = "objects of unknown types were kept, and are refused now"
        yield Change("warning", "unknown", "", msg)


def _tags(old: _Classes, new: _Classes) -> Iterator[Change]:
    for tag, before in old.own.items():
        for name in _note(before, "aliases"):
            if name not in new.names:
                msg = f"the alias {name!r} is gone: documents with it are refused"
                yield Change("error", "alias", tag, msg, f"aliases=[{name!r}]")
        now = new.names.get(tag)
        if now is None:
            yield _gone(tag, before, new)
            continue
        if now != tag:
            msg = f"{now!r} is written now; {tag!r} is read as its alias"
            yield Change("note", "tag", tag, msg)
        yield from _Comparison(old, new, tag, now).changes()
    for tag in new.own.keys() - {new.names.get(name) for name in old.names}:
        yield Change("note", "tag", tag, "the class is new")


def _gone(tag: str, before: Schema, new: _Classes) -> Change:
    if new.keeps_types:
        msg = "no class is registered for it: objects of it are kept as OpaqueNode"
        return Change("warning", "tag", tag, msg)
    msg = f"no class is registered for {tag!r}: documents with it are refused"
    hint = "register it, or name the tag among the aliases of the class that took over"
    keys = _fields(before).keys()
    for other, part in new.own.items():
        if keys and _fields(part).keys() == keys:
            hint = f"if {other!r} took over, give it aliases=[{tag!r}]"
            break
    return Change("error", "tag", tag, msg, hint)


def _body(part: Schema) -> Schema:
    """Return the fields of a class of any version: those of the one it writes."""
    body: Schema = part.get("then", part)
    return body


def _fields(part: Schema) -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = _body(part).get("properties", {})
    return {k: v for k, v in properties.items() if k not in ("$type", "$v")}


class _Comparison:
    """One class before and after."""

    def __init__(self, old: _Classes, new: _Classes, tag: str, now: str) -> None:
        self._old, self._new = old, new
        self._tag = tag
        self._before, self._after = old.own[tag], new.own[now]

    def changes(self) -> Iterator[Change]:
        if _form(self._before) != _form(self._after):
            msg = f"it was {_form(self._before)}, and is {_form(self._after)}"
            yield Change("error", "form", self._tag, msg, "give it another tag")
        elif _form(self._before) in ("an Enum", "a Flag"):
            yield from self._members()
        else:
            yield from self._versions()

    def _members(self) -> Iterator[Change]:
        if _form(self._before) == "a Flag":
            yield from self._flags()
            return
        before, after = (
            _options(part["properties"]["name"])[0]["enum"]
            for part in (self._before, self._after)
        )
        for name in before:
            if name not in after:
                yield self._lost_member(name)
        for name in after:
            if name not in before:
                yield self._added_member(name)

    def _flags(self) -> Iterator[Change]:
        was, now = (
            _options(part["properties"]["value"])[0]
            for part in (self._before, self._after)
        )
        worst = _bits(was, now)
        if worst is not None:
            severity, msg = worst
            yield Change(severity, "member", self._tag, msg, "keep the members")

    def _lost_member(self, name: str) -> Change:
        if self._new.keeps_types:
            msg = f"the member {name} is gone: it is kept as an OpaqueMember"
            return Change("warning", "member", self._tag, msg)
        msg = f"the member {name} is gone: documents with it are refused"
        hint = f"keep the name as an alias: {name} = <the value of another>"
        return Change("error", "member", self._tag, msg, hint)

    def _added_member(self, name: str) -> Change:
        msg = f"the member {name} is new"
        return Change("note", "member", self._tag, msg, "update the readers first")

    def _versions(self) -> Iterator[Change]:
        was, now = _note(self._before, "version"), _note(self._after, "version")
        oldest = _note(self._before, "reads-from")
        reads_from = _note(self._after, "reads-from")
        if now < was:
            msg = f"version {was} became {now}: documents of version {was} are refused"
            yield Change("error", "version", self._tag, msg, "versions only go up")
            return
        if reads_from > oldest:
            msg = f"documents of version {oldest} are refused: there is no upgrade"
            hint = f"upgrades={{{oldest}: function}}"
            yield Change("error", "version", self._tag, msg, hint)
        if now == was:
            yield from self._same_version()
        elif reads_from <= was:
            msg = f"version {was} became {now}, with an upgrade; try it on a document"
            yield Change("note", "version", self._tag, msg, "update the readers first")

    def _same_version(self) -> Iterator[Change]:
        before, after = _fields(self._before), _fields(self._after)
        needed_before = _body(self._before).get("required", [])
        needed = _body(self._after).get("required", [])
        for key in before.keys() - after.keys():
            yield self._removed(key)
        for key in needed:
            if key in after and key not in needed_before:
                yield self._required(key, known=key in before)
        for key in after.keys() - before.keys() - set(needed):
            yield Change("note", "field", f"{self._tag}.{key}", "it is new")
        for key in before.keys() & after.keys():
            yield from self._type(key, before[key], after[key])
        if _note(self._before, "unknown-fields") != "raise":
            yield from self._place()

    def _place(self) -> Iterator[Change]:
        if _note(self._after, "unknown-fields") == "raise":
            msg = "unknown fields were taken, and are refused now"
            hint = "declare a field with graphcodec.extra()"
            yield Change("warning", "unknown", self._tag, msg, hint)

    def _removed(self, key: str) -> Change:
        where = f"{self._tag}.{key}"
        match _note(self._after, "unknown-fields"):
            case "keep":
                msg = "the field is gone; old values are kept as unknown fields"
                return Change("warning", "field", where, msg)
            case "ignore":
                msg = "the field is gone, and old values are dropped"
                return Change("warning", "field", where, msg)
            case _:
                msg = "the field is gone, and its class has no place for old values"
                hint = "raise the version, with an upgrade that drops it"
                return Change("error", "field", where, msg, hint)

    def _required(self, key: str, *, known: bool) -> Change:
        where = f"{self._tag}.{key}"
        if known:
            msg = "it has no default any more: documents from before it are refused"
        else:
            msg = "it is new and has no default: older documents are refused"
        return Change("error", "field", where, msg, "give it a default")

    def _type(self, key: str, before: Schema, after: Schema) -> Iterator[Change]:
        where = f"{self._tag}.{key}"
        worst = _Cover(self._old, self._new).worst(before, after)
        if worst is not None:
            was, now = before.get("description"), after.get("description")
            what = f"{was} became {now}" if was != now else f"{was} takes less"
            severity, reason = worst
            hint = "raise the version, with an upgrade" if severity == "error" else ""
            yield Change(severity, "type", where, f"{what}: {reason}", hint)


def _form(part: Schema) -> str:
    if "$enum" in part.get("properties", {}):
        return "an Enum" if "name" in part["properties"] else "a Flag"
    if "$value" in _body(part).get("properties", {}):
        return "written by a function"
    return "written by its fields"


_Worst: TypeAlias = tuple[Severity, str] | None


def _rank(worst: tuple[Severity, str]) -> int:
    return _RANKS[worst[0]]


class _Cover:
    """Finds what one slot takes and another does not."""

    def __init__(self, old: _Classes, new: _Classes) -> None:
        self._old, self._new = old, new

    def worst(self, before: Schema, after: Schema) -> _Worst:
        """Return the worst that happens to values of one slot in another one."""
        found: list[tuple[Severity, str]] = []
        options = _options(after)
        for option in _options(before):
            if referred(option) in _UNKNOWN:
                # What is kept of unknown types is the codec's policy.
                continue
            results = [self._option(option, other) for other in options]
            if None in results:
                continue
            # What comes nearest says more than what is quite different.
            mild = [r for r in results if r is not None and r[0] != "error"]
            deep = [r for r in results if r is not None and not r[1].endswith("fits")]
            quite: tuple[Severity, str] = ("error", f"{_words(option)} no longer fits")
            found.append((*mild, *deep, quite)[0])
        return min(found, default=None, key=_rank)

    def _option(self, before: Schema, after: Schema) -> _Worst:
        wrong: _Worst = ("error", f"{_words(before)} no longer fits")
        if after.get("$ref") == _UNTYPED:
            return None if before.get("$ref") == _UNTYPED else self._untyped(before)
        if "$ref" in before or "$ref" in after:
            return self._part(before, after)
        if "enum" in before and "enum" in after:
            return self._lost(before["enum"], after["enum"])
        if "enum" in before:
            return self._literals(before["enum"], after)
        if "$dict" in before.get("required", ()):
            return self._pairs(before, after)
        if before.get("type") != after.get("type"):
            wide = before.get("type") == "integer" and after.get("type") == "number"
            return None if wide else wrong
        if before.get("type") == "array":
            return self._list(before, after)
        if before.get("type") == "object":
            return self._table(before, after)
        same = after.get("pattern") in (None, before.get("pattern"))
        return _bits(before, after) if same and "enum" not in after else wrong

    def _lost(self, before: list[Any], after: list[Any]) -> _Worst:
        lost = [value for value in before if value not in after]
        if not lost:
            return None
        if self._new.keeps_types:
            return "warning", f"{lost[0]!r} {_KEPT}"
        return "error", f"{lost[0]!r} no longer fits"

    def _part(self, before: Schema, after: Schema) -> _Worst:
        was, now = referred(before), referred(after)
        alike = before.get("properties") == after.get("properties")
        if alike and was is not None and self._new.names.get(was, was) == now:
            return None
        if now in ("$member", "$literal") and before.get("type") in _LITERALS:
            return "warning", f"{_words(before)} {_KEPT}"
        # Hardly a document has one of these values, and most slots stay as they are.
        rare = before.get("$ref") in _MARKED_TEXT
        return ("warning" if rare else "error", f"{_words(before)} no longer fits")

    def _untyped(self, before: Schema) -> _Worst:
        if before.get("$ref") in _MARKED_TEXT:
            return "warning", f"{_words(before)} would be read as plain data"
        if before.get("type") in ("null", "boolean", "integer", "number", "string"):
            return None
        if before.get("enum") is not None:
            return None
        return "error", f"{_words(before)} would be read as plain data"

    def _literals(self, values: list[Any], after: Schema) -> _Worst:
        kinds = {"string": str, "integer": int, "number": int | float}
        kind = kinds.get(str(after.get("type")))
        if kind is not None and "pattern" not in after:
            values = [v for v in values if not isinstance(v, kind)]
        return ("error", f"{values[0]!r} no longer fits") if values else None

    def _pairs(self, before: Schema, after: Schema) -> _Worst:
        if "$dict" not in after.get("required", ()):
            return "error", "a dict with such keys no longer fits"
        was, now = (
            part["properties"]["$dict"]["items"]["prefixItems"]
            for part in (before, after)
        )
        return self.worst(was[0], now[0]) or self.worst(was[1], now[1])

    def _table(self, before: Schema, after: Schema) -> _Worst:
        if "additionalProperties" in before and "additionalProperties" in after:
            was, now = before["additionalProperties"], after["additionalProperties"]
            if isinstance(was, dict) and isinstance(now, dict):
                return self.worst(cast("Schema", was), cast("Schema", now))
        same = before == after
        return None if same else ("error", f"{_words(before)} no longer fits")

    def _list(self, before: Schema, after: Schema) -> _Worst:
        if before.get("minItems") is None and after.get("minItems") is not None:
            return "error", "a list of any length no longer fits"
        if before.get("minItems") is None:
            return self.worst(before["items"], after["items"])
        if after.get("minItems") not in (None, before["minItems"]):
            return "error", f"a tuple of {before['minItems']} no longer fits"
        rows: list[Schema] = before.get("prefixItems", [])
        others: list[Schema] = after.get("prefixItems", [after["items"]] * len(rows))
        results = [self.worst(a, b) for a, b in zip(rows, others, strict=True)]
        return min((r for r in results if r), default=None, key=_rank)


def _options(schema: Schema) -> list[Schema]:
    """Return what a slot takes, one by one."""
    if "anyOf" in schema:
        return [part for option in schema["anyOf"] for part in _options(option)]
    then = schema.get("then")
    if then is None:
        return [schema]
    other = schema.get("else")
    return [then, *([other] if isinstance(other, dict) else [])]


def _bits(before: Schema, after: Schema) -> _Worst:
    """Say which members of a Flag are missed."""
    was, now = before.get(f"{NOTE}bits"), after.get(f"{NOTE}bits")
    if now is None:
        return None
    if was is None:
        return "error", "ints with other bits no longer fit"
    lost = was & ~now
    return ("error", f"the bits of {lost} no longer fit") if lost else None


def _words(schema: Schema) -> str:
    name = referred(schema)
    if name == "$untyped":
        return "any other value"
    if name is not None:
        return _RARE.get(name, name.replace("$reference", "a reference").lstrip("$"))
    kinds = {"null": "None", "array": "a list", "object": "a dict", "string": "text"}
    kind = str(schema.get("type", "a value"))
    return kinds.get(kind, kind)
