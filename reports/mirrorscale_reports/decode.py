"""From parsed JSON to frozen dataclasses, by their type hints; anything that does not fit is refused."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import types
import typing
from typing import Annotated, Any, Literal, TypeVar, Union

T = TypeVar("T")


class Refused(ValueError):
    """A value that does not fit; the text names the field and what was expected."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """A number's least and largest value, or what it must stay below."""

    least: float
    below: float = math.inf
    most: float = math.inf

    def why_not(self, value: float) -> str:
        if value < self.least:
            return f"at least {self.least:g}"
        if value > self.most:
            return f"at most {self.most:g}"
        return f"below {self.below:g}" if value >= self.below else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """A text's form as a regular expression, and the same in words."""

    expression: str
    words: str

    def why_not(self, value: str) -> str:
        return "" if re.fullmatch(self.expression, value, re.ASCII) else self.words


@dataclasses.dataclass(frozen=True, slots=True)
class Length:
    """How many elements a list (or characters a text) may have."""

    least: int
    most: int = 2**31

    def why_not(self, value: typing.Sized) -> str:
        if len(value) < self.least:
            return f"at least {self.least} element(s)"
        return f"at most {self.most} elements" if len(value) > self.most else ""


Count = Annotated[int, Bounds(0)]
PositiveCount = Annotated[int, Bounds(1)]
Amount = Annotated[float, Bounds(0)]
Text = Annotated[str, Pattern(r"[\s\S]+", "a text that is not empty")]
Hex = Annotated[str, Pattern("[0-9a-f]+", "hex text (0-9, a-f)")]
HexOrEmpty = Annotated[str, Pattern("[0-9a-f]*", "hex text (0-9, a-f) or nothing")]


def decode(shape: Any, value: object, path: str = "") -> Any:
    """`value` as `shape`: a dataclass, tuple, Literal, `X | None`, Annotated or plain type."""
    origin = typing.get_origin(shape)
    if origin is Annotated:
        inner, *rules = typing.get_args(shape)
        decoded = decode(inner, value, path)
        for rule in rules:
            if why := rule.why_not(decoded):
                raise _refusal(path, why, value)
        return decoded
    if origin is Literal:
        choices = typing.get_args(shape)
        # type() too, because True == 1
        if not any(value == choice and type(value) is type(choice) for choice in choices):
            raise _refusal(path, "one of " + ", ".join(repr(choice) for choice in choices), value)
        return value
    if origin in (Union, types.UnionType):
        inner = next(arg for arg in typing.get_args(shape) if arg is not type(None))
        return None if value is None else decode(inner, value, path)
    if origin is tuple:
        if not isinstance(value, list):
            raise _refusal(path, "a list", value)
        element = typing.get_args(shape)[0]
        return tuple(decode(element, item, f"{path}[{i}]") for i, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            raise _refusal(path, "an object", value)
        element = typing.get_args(shape)[1]
        return {key: decode(element, item, _join(path, key)) for key, item in value.items()}
    if dataclasses.is_dataclass(shape):
        return _decode_object(shape, value, path)
    return _decode_plain(shape, value, path)


def _decode_object(shape: Any, value: object, path: str) -> Any:
    if not isinstance(value, dict):
        raise _refusal(path, "an object", value)
    hints = _hints(shape)
    optional = {f.name for f in dataclasses.fields(shape) if _has_default(f)}
    missing = [name for name in hints if name not in value and name not in optional]
    if missing:
        raise Refused(f"missing field `{_join(path, missing[0])}`")
    unknown = [name for name in value if name not in hints]
    if unknown:
        raise Refused(f"unknown field `{_join(path, unknown[0])}`")
    return shape(
        **{
            name: decode(hint, value[name], _join(path, name))
            for name, hint in hints.items()
            if name in value
        }
    )


def _has_default(field: dataclasses.Field[Any]) -> bool:
    """A field that a record may leave out."""
    return field.default is not dataclasses.MISSING


@functools.cache
def _hints(shape: Any) -> dict[str, Any]:
    return typing.get_type_hints(shape, include_extras=True)


def _decode_plain(shape: Any, value: object, path: str) -> Any:
    if shape is object:
        return value
    if shape is bool:
        if isinstance(value, bool):
            return value
        raise _refusal(path, "true or false", value)
    if shape is str:
        if isinstance(value, str):
            return value
        raise _refusal(path, "a text", value)
    if shape is int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise _refusal(path, "a whole number", value)
    if shape is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value):
            return float(value)
        raise _refusal(path, "a finite number", value)
    raise TypeError(f"no rule to decode {shape!r}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest double
        return False


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _refusal(path: str, expected: str, value: object) -> Refused:
    shown = repr(value)
    if len(shown) > 60:
        shown = shown[:57] + "..."
    return Refused(f"field `{path}`: expected {expected}, got {shown}")


def json_object(line: bytes) -> dict[str, Any]:
    """The object that a line of UTF-8 holds, its numbers finite; anything else is refused."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise Refused(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise Refused(f"not JSON: {error.msg} at column {error.colno}") from None
    except Refused:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise Refused(f"not JSON we read: {str(error).split(';')[0]}") from None
    except RecursionError:
        raise Refused("not a record: nested too deeply") from None
    if not isinstance(value, dict):
        raise Refused("not a record: expected a JSON object")
    _require_encodable(line, value)
    return value


def _no_constant(literal: str) -> float:
    raise Refused(f"not JSON: {literal} is not a finite number")


def _finite(literal: str) -> float:
    value = float(literal)
    return value if math.isfinite(value) else _no_constant(literal)


def _require_encodable(line: bytes, value: dict[str, Any]) -> None:
    # JSON may spell half of a surrogate pair, which no UTF-8 file (our page) can hold.
    if b"\\u" in line:
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise Refused("a text holds half of a surrogate pair (\\ud800 to \\udfff)") from None


def is_json(line: bytes) -> bool:
    """Whether it is JSON at all, of any kind."""
    try:
        json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return True
