"""Makes arguments that a tool's input schema allows, the same ones in every run.

A schema is JSON Schema 2020-12. What is made is checked with `jsonschema`, formats included; what cannot be made is
said, never sent.
"""

from __future__ import annotations

import base64
import random
import re
import string
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

try:
    from re import _parser as regular
except ImportError:  # Python 3.10
    import sre_parse as regular

ATTEMPTS = 12
MAX_DEPTH = 4
MAX_REFERENCES = 64
MAX_TEXT_CHARS = 200
MAX_REPEATS = 8

# Each arrives only if it is encoded for its place.
TEXTS = ["apple", "two words", "50% & more", "a/b?c#d", "a+b=c", "it's \"quoted\"", "x;y,z", "~tilde_1"]
FORMATS = {
    "date": "2026-02-03",
    "date-time": "2026-02-03T04:05:06Z",
    "time": "04:05:06Z",
    "duration": "P1DT2H",
    "email": "ann@example.org",
    "idn-email": "ann@example.org",
    "hostname": "example.org",
    "idn-hostname": "example.org",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    "uri": "https://example.org/a?b=c&d=1",
    "url": "https://example.org/a?b=c&d=1",
    "iri": "https://example.org/a",
    "uri-reference": "/a?b=c",
    "uuid": "6f1c1f5e-4b0c-4d5f-9a54-0123456789ab",
    "json-pointer": "/a/0",
    "regex": "^a+$",
    "byte": "aGVsbG8=",
    "int64": "7",
}
WHOLE_NUMBER_LIMITS = {"int32": 2**31 - 1, "int64": 2**53 - 1}


class CannotMake(Exception):
    """No valid arguments were found for a schema."""


def make_arguments(schema: dict[str, Any], seed: str, optional: float) -> dict[str, Any]:
    """Valid arguments with about this share of the optional ones."""
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    why = ""
    for attempt in range(ATTEMPTS):
        source = Arguments(schema, random.Random(f"{seed} {attempt}"), optional)
        try:
            made = source.value(schema, 0)
        except CannotMake as error:
            why = str(error)
            continue
        fault = next(validator.iter_errors(made), None)
        if fault is None:
            return made
        why = f"{fault.message[:120]} at {list(fault.absolute_path)}"
    raise CannotMake(why)


class Arguments:
    """One attempt at a value for each schema within a root schema."""

    def __init__(self, root: dict[str, Any], rng: random.Random, optional: float) -> None:
        self.root = root
        self.rng = rng
        self.optional = optional

    def value(self, schema: Any, depth: int) -> Any:
        schema = self.whole(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice([one for one in schema["enum"] if one is not None] or [None])
        kind = self.kind(schema)
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            return self.array(schema, depth)
        if kind in ("integer", "number"):
            return self.number(schema, kind)
        if kind == "boolean":
            return self.rng.random() < 0.5
        return None if kind == "null" else self.text(schema)

    def whole(self, schema: Any) -> dict[str, Any]:
        """A schema with what it refers to and one of its alternatives, all at one level."""
        if not isinstance(schema, dict):
            if schema is False:
                raise CannotMake("nothing is allowed")
            return {}
        merged: dict[str, Any] = {}
        waiting = [schema]
        for _ in range(MAX_REFERENCES):
            if not waiting:
                return merged
            one = waiting.pop()
            if not isinstance(one, dict):
                continue
            merge(merged, {key: value for key, value in one.items() if key not in COMPOSED})
            if "$ref" in one:
                waiting.append(self.referred(one["$ref"]))
            waiting.extend(one.get("allOf", []))
            for alternatives in (one.get("oneOf"), one.get("anyOf")):
                if alternatives:
                    waiting.append(self.rng.choice(alternatives))
        raise CannotMake("it refers to too much")

    def referred(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise CannotMake(f"it refers to {reference}")
        found: Any = self.root
        for token in reference[1:].split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(token)] if isinstance(found, list) else found[token]
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise CannotMake(f"{reference} is not there") from error
        return found

    def kind(self, schema: dict[str, Any]) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self.rng.choice([kind for kind in kinds if kind != "null"] or ["null"])
        if kinds:
            return kinds
        if "properties" in schema or "additionalProperties" in schema:
            return "object"
        return "array" if "items" in schema else "string"

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        made = {}
        properties = schema.get("properties", {})
        if is_file(properties):
            return {"filename": "note.txt", "media_type": "text/plain", "base64": self.text(properties["base64"])}
        required = set(schema.get("required", []))
        # What is not required ends somewhere, or schemas that hold themselves would not.
        share = self.optional if depth < MAX_DEPTH else 0.0
        for name, one in properties.items():
            if name in required or self.rng.random() < share:
                try:
                    made[name] = self.value(one, depth + 1)
                except CannotMake:
                    if name in required:
                        raise
        for name in required - set(properties):
            made[name] = self.value(schema.get("additionalProperties", {}), depth + 1)
        rest = schema.get("additionalProperties")
        least = schema.get("minProperties", 0)
        if isinstance(rest, dict) and rest and not properties and share:
            least = max(least, 1)
        for number in range(least - len(made)):
            made[f"key{number}"] = self.value(rest if isinstance(rest, dict) else {}, depth + 1)
        if depth > MAX_REFERENCES:
            raise CannotMake("it has no end")
        return made

    def array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", MAX_REPEATS)
        wanted = least if depth >= MAX_DEPTH else max(least, min(most, self.rng.randint(1, 2)))
        made = [self.value(one, depth + 1) for one in schema.get("prefixItems", [])][:wanted]
        for _ in range(ATTEMPTS * max(wanted, 1)):
            if len(made) >= wanted:
                break
            one = self.value(schema.get("items", {}), depth + 1)
            if not (schema.get("uniqueItems") and one in made):
                made.append(one)
        return made

    def number(self, schema: dict[str, Any], kind: str) -> int | float:
        limit = WHOLE_NUMBER_LIMITS.get(schema.get("format", ""), 2**31 - 1)
        low, high = schema.get("minimum"), schema.get("maximum")
        step = schema.get("multipleOf", 1)
        if "exclusiveMinimum" in schema:
            low = schema["exclusiveMinimum"] + step
        if "exclusiveMaximum" in schema:
            high = schema["exclusiveMaximum"] - step
        low = (min(1, high) if high is not None else 1) if low is None else low
        high = min(low + 1000, limit) if high is None else high
        if kind == "number" and self.rng.random() < 0.3 and "multipleOf" not in schema:
            return round(self.rng.uniform(low, high), 2)
        made = self.rng.randint(-(-int(low) // 1), max(int(low), int(high)))
        return made - made % step if "multipleOf" in schema and step >= 1 else made

    def text(self, schema: dict[str, Any]) -> str:
        if schema.get("contentEncoding") == "base64" or schema.get("format") == "byte":
            return base64.b64encode(f"content {self.rng.randint(1, 99)}".encode()).decode()
        if "pattern" in schema:
            return self.matching(schema["pattern"])
        made = FORMATS.get(schema.get("format", "")) or self.rng.choice(TEXTS)
        if "format" not in schema or schema["format"] not in FORMATS:
            while len(made) < schema.get("minLength", 0):
                made += self.rng.choice(string.ascii_lowercase)
            made = made[: schema.get("maxLength", MAX_TEXT_CHARS)]
        return made

    def matching(self, pattern: str) -> str:
        try:
            return self.of_pattern(regular.parse(pattern))
        except (re.error, OverflowError) as error:
            raise CannotMake(f"pattern {pattern}: {error}") from error

    def of_pattern(self, parsed: Any) -> str:
        made = ""
        for code, argument in parsed:
            name = str(code)
            if name == "LITERAL":
                made += chr(argument)
            elif name == "NOT_LITERAL":
                made += "a" if argument != ord("a") else "b"
            elif name == "ANY":
                made += "a"
            elif name == "IN":
                made += self.of_set(argument)
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                least, most, inner = argument
                count = self.rng.randint(least, max(least, min(int(most), least + MAX_REPEATS)))
                made += "".join(self.of_pattern(inner) for _ in range(max(count, min(1, int(most)))))
            elif name == "SUBPATTERN":
                made += self.of_pattern(argument[-1])
            elif name == "ATOMIC_GROUP":
                made += self.of_pattern(argument)
            elif name == "BRANCH":
                made += self.of_pattern(self.rng.choice(argument[1]))
            elif name != "AT" and not name.startswith("ASSERT"):
                raise CannotMake(f"a pattern with {name}")
        return made

    def of_set(self, members: list[Any]) -> str:
        def has(character: str) -> bool:
            return any(is_member(character, member) for member in members)

        is_negated = str(members[0][0]) == "NEGATE"
        usable = [one for one in string.ascii_letters + string.digits + "-_. :/+,@#$%&*=" if has(one) != is_negated]
        if usable:
            return self.rng.choice(usable)
        code, argument = members[-1]
        if str(code) == "RANGE":
            return chr(argument[0])
        if str(code) == "LITERAL":
            return chr(argument)
        raise CannotMake("a set of characters with none of the usual ones")


COMPOSED = {"$ref", "allOf", "oneOf", "anyOf"}
CATEGORIES = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda one: one.isalnum() or one == "_"}


def is_file(properties: dict[str, Any]) -> bool:
    """Whether it is how Gatefold takes a file. Prism ends itself at a semicolon in the name of one, so all have a
    plain name."""
    return set(properties) == {"filename", "media_type", "base64"}


def is_member(character: str, member: Any) -> bool:
    code, argument = str(member[0]), member[1]
    if code == "LITERAL":
        return ord(character) == argument
    if code == "RANGE":
        return argument[0] <= ord(character) <= argument[1]
    if code == "CATEGORY":
        name = str(argument).removeprefix("CATEGORY_")
        return CATEGORIES[name.removeprefix("NOT_")](character) != name.startswith("NOT_")
    return False


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Both must hold: members are joined, and of two other words the first one stays."""
    for key, value in more.items():
        if key == "properties" and key in into:
            into[key] = {**value, **into[key]}
        elif key == "required" and key in into:
            into[key] = sorted({*into[key], *value})
        else:
            into.setdefault(key, value)
