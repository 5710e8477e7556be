"""Features of a tree, and their values as the numbers that the tree compares.

A number is itself. A category is its position among the listed values; a category that is not listed
is the number of listed values. NaN is a missing value. Dates are days since 1970-01-01, times
microseconds since midnight, timestamps microseconds since 1970-01-01 in UTC.
"""

from __future__ import annotations

import datetime
import decimal
import math
import operator
import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from .predictions import Floats
from .program import callers_level

_DATE = r"(\d{4})-(\d\d?)-(\d\d?)"
_CLOCK = r"(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d+))?)?"
_BASIC = r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:\.(\d+))?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|([+-]\d\d)(?::?(\d\d))?))?"
_NO_DATE, _NO_CLOCK, _NO_ZONE = "()()()", "()()()()", "()()"
_MOMENTS = {
    unit: re.compile(form, re.ASCII)
    for unit, form in {
        "date": _DATE + _NO_CLOCK + _NO_ZONE,
        "time": _NO_DATE + _CLOCK + _NO_ZONE,
        "timestamp": f"{_DATE}(?:[T ]{_CLOCK}{_ZONE})?",
        "basic": _BASIC + _ZONE,
    }.items()
}
_HEX = r"[0-9a-f](?:_?[0-9a-f])*"
_HEXADECIMAL = re.compile(rf"[+-]?0x(?:_?{_HEX}(?:\.(?:{_HEX})?)?|\.{_HEX})p[+-]?\d(?:_?\d)*", re.ASCII)
_CLOCKS = "datetime", "timestamp"  # types of columns of points in time, by pandas and polars, and by Arrow
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = 24 * 60 * 60 * 1_000_000  # microseconds
_EXACT = 2**53  # float64 holds each whole number up to it
_DIGITS = 400  # of a whole decimal that may be a category; float64 ends at 309
_SHOWN = 60  # characters of a value in a message

Moment = datetime.date | datetime.time


class Feature:
    """A feature that a tree tests."""

    name: str
    numeric: bool
    unit: str
    """"date", "time" or "timestamp" for points in time, otherwise empty."""
    local: bool
    """Timestamps show the clock of a place, without a time zone."""
    values: tuple[str, ...]
    """The listed values of a categorical feature, as tree.json spells them."""
    group: str
    """The group whose price is paid with the first test on one of its features; empty if absent."""
    group_cost: float
    further_costs: dict[str, float]
    """The prices in further currencies, by currency; group_further_costs are those of the group."""
    group_further_costs: dict[str, float]
    unordered: bool
    """Nobody ordered an absent value: a row without it ends at the test for missing values, which costs nothing."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Takes an element of "features" in tree.json."""
        self.name = document["name"]
        self.numeric = document["type"] == "numeric"
        self.unit = document.get("unit", "")
        self.local = document.get("zone") == "local"
        self.values = tuple(document.get("values", ()))
        self.group = document.get("group", "")
        self.group_cost = float(document.get("group_cost", 0))
        self.further_costs = {unit: float(cost) for unit, cost in sorted((document.get("further_costs") or {}).items())}
        self.group_further_costs = document.get("group_further_costs") or {}
        self.unordered = document.get("absent") == "unordered"
        self.unlisted = float(len(self.values))
        self.codes = _Codes(self)
        numbers = _numbers(self.values)
        self._numbers = np.array(sorted(numbers), dtype=float)
        self._number_codes = np.array([numbers[x] for x in sorted(numbers)], dtype=float)

    def encode(self, column: Any) -> Floats:
        """Returns the values of a column as numbers, shape (n,).

        column is a numpy array, a pandas Series or another sequence of n values, which are read as
        the scorers in Go read the values of JSON rows. None, NaN, NA and NaT are missing, and, unless
        texts are categories, so is an empty text. A text may spell a number or a point in time, true
        is 1 and false is 0. Of points in time, numbers of numpy are counts of days or microseconds, and
        other numbers are refused. Raises TypeError for values of a wrong type, and ValueError for whole
        numbers that float64 cannot hold and texts that are not points in time.
        """
        array = self._array(column)
        if array.ndim != 1:
            raise ValueError(f"feature {self.name!r}: a column of shape {array.shape}: want one value for each row")
        kind = array.dtype.kind
        if kind == "M":
            return self._compared(self._moments(array))
        if kind == "f" or kind in "iu" and _exact(array):
            return self._compared(array.astype(float))
        if kind == "b":
            return np.where(array, self.encode_one(True), self.encode_one(False))
        if kind not in "iuOSUT":
            raise TypeError(f"feature {self.name!r}: a column of {array.dtype}: want {self._wanted()}")
        return self._encoded(array.tolist())

    def encode_one(self, value: Any) -> float:
        """Returns a value as a number; the errors are the same as for encode."""
        return float(self._encoded([value])[0])

    def _encoded(self, values: list[Any]) -> Floats:
        """Returns values as numbers. Each error names the feature."""
        encode = self.number if self.numeric else self.codes.__getitem__
        try:
            return np.fromiter(map(encode, values), float, len(values))
        except (TypeError, ValueError, ArithmeticError) as error:
            if str(error).startswith(f"feature {self.name!r}: "):
                raise
            # Such as a list, which is no key of a dictionary.
            raise TypeError(f"feature {self.name!r}: {error}: want {self._wanted()}, or no value") from error

    def category(self, value: Any) -> float:
        """Returns the code of a value that is not a listed text."""
        if missing(value):
            return math.nan
        if isinstance(value, (bool, np.bool_)) and not self.unit:
            return self.codes.get("true" if value else "false", self.unlisted)
        if isinstance(value, bytes):
            return self.codes.get(value.decode(errors="replace"), self.unlisted)
        if isinstance(value, str) and not self.unit:
            return self.unlisted
        whole = None if self.unit or isinstance(value, str) else _whole(value)
        if whole is not None and (str(whole) in self.codes or abs(whole) > _EXACT):
            return self.codes.get(str(whole), self.unlisted)
        return float(self._compared(np.array([self.number(value)]))[0])

    def number(self, value: Any) -> float:
        """Returns a number or a point in time as a number."""
        if type(value) is float and not self.unit:
            return value
        if missing(value) or isinstance(value, str) and value == "":
            return math.nan
        if isinstance(value, np.datetime64):
            return float(self._moments(np.array([value]))[0])
        if isinstance(value, str) and self.unit:
            value = self._parsed(value)
        if isinstance(value, (datetime.date, datetime.time)):
            return self._moment(value)
        try:
            if isinstance(value, bytes) or self.unit and not isinstance(value, np.number):
                raise TypeError(type(value).__name__)
            x = _plain(value) if isinstance(value, str) else float(value)
            if math.isinf(x) and isinstance(value, decimal.Decimal) and value.is_finite():
                raise OverflowError("a number beyond float64")
        except (TypeError, ValueError, OverflowError) as error:
            what = "the text " if isinstance(value, (str, bytes)) else ""
            shown = _shown(value)
            raise TypeError(f"feature {self.name!r}: {what}{shown}: want {self._wanted()}, or no value") from error
        if abs(x) >= _EXACT and _whole(value) not in (None, x):
            raise ValueError(
                f"feature {self.name!r}: {value}: a whole number beyond 2^53 that float64 cannot hold"
            )
        return x

    def _array(self, column: Any) -> npt.NDArray[Any]:
        """Returns a column as an array. Times with a zone are converted to UTC."""
        if isinstance(column, np.ndarray):
            return column
        kind = getattr(column, "dtype", getattr(column, "type", None))
        kind = getattr(kind, "pyarrow_dtype", kind)
        if any(getattr(kind, name, None) for name in ("tz", "time_zone")):  # of pandas and Arrow, or of polars
            self._check_zone()
            if hasattr(getattr(column, "dt", None), "tz_convert"):  # the others convert to UTC by to_numpy
                column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        elif self.unit == "timestamp" and not self.local and any(str(kind).lower().startswith(name) for name in _CLOCKS):
            warnings.warn(
                f"feature {self.name!r}: timestamps without a time zone are read as UTC, as those of the training rows had one",
                stacklevel=callers_level(),
            )
        of = getattr(getattr(kind, "categories", None), "dtype", kind)
        if of is not kind and getattr(of, "kind", "") in ("i", "u"):  # of pandas: to_numpy makes floats beside nulls
            column = column.astype(object)
        if hasattr(column, "to_numpy"):
            copied = {"zero_copy_only": False} if hasattr(column, "to_pylist") and not hasattr(column, "chunks") else {}
            array = np.asarray(column.to_numpy(**copied))  # an array of Arrow copies nulls only if told to
            if array.dtype.kind != "f" or "int" not in str(kind).lower() or _exact(array):
                return array
            # Nulls make floats of whole numbers, which lose digits.
            column = column.to_pylist() if hasattr(column, "to_pylist") else column
        values = list(column)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def _compared(self, numbers: Floats) -> Floats:
        """Returns numbers unchanged for a numeric feature, and as codes for a categorical one."""
        if self.numeric:
            return numbers
        codes = np.full(len(numbers), self.unlisted)
        if len(self._numbers):
            at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
            codes = np.where(self._numbers[at] == numbers, self._number_codes[at], codes)
        codes[np.isnan(numbers)] = math.nan
        return codes

    def _moments(self, array: npt.NDArray[Any]) -> Floats:
        """Returns datetime64 values as counts of the unit, rounded down."""
        if not self.unit:
            raise TypeError(f"feature {self.name!r}: points in time: want {self._wanted()}")
        counts = array.astype("datetime64[D]" if self.unit == "date" else "datetime64[us]").astype(np.int64)
        if self.unit == "time":
            counts %= _DAY
        return np.where(np.isnat(array), math.nan, counts.astype(float))

    def _moment(self, value: Moment) -> float:
        """Returns a point in time as a count of the unit, rounded down."""
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            self._check_zone()
            value = value.astimezone(datetime.timezone.utc)
        if self.unit == "time" and isinstance(value, (datetime.time, datetime.datetime)):
            return float(((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond)
        if self.unit == "date" and isinstance(value, datetime.date):
            return float(value.toordinal() - _EPOCH.toordinal())
        if self.unit == "timestamp" and isinstance(value, datetime.datetime):
            return float((value.replace(tzinfo=datetime.timezone.utc) - _EPOCH) // _MICROSECOND)
        raise TypeError(f"feature {self.name!r}: {value!r}: want {self._wanted()}")

    def _parsed(self, text: str) -> Moment:
        """Reads a point in time in ISO 8601, also as databases write it: see dataset.Unit.ParseISO in Go."""
        try:
            match = _MOMENTS[self.unit].fullmatch(text)
            if match is None and self.unit == "timestamp":
                match = _MOMENTS["basic"].fullmatch(text)
            if match is None:
                raise ValueError("another form")
            year, month, day, hour, minute, second, fraction, hours, minutes = match.groups(default="")
            clock = datetime.time(
                int(hour or 0), int(minute or 0), int(second or 0), int(fraction[:6].ljust(6, "0"))
            )
            if self.unit == "time":
                return clock
            date = datetime.date(int(year), int(month), int(day))
            if self.unit == "date":
                return date
            if hours:
                offset = datetime.timedelta(hours=int(hours[1:]), minutes=int(minutes or 0))
                if int(minutes or 0) > 59:
                    raise ValueError("an offset of more than 59 minutes")
                clock = clock.replace(tzinfo=datetime.timezone(-offset if hours[0] == "-" else offset))
            elif text[-1].isalpha():
                clock = clock.replace(tzinfo=datetime.timezone.utc)
            return datetime.datetime.combine(date, clock)
        except ValueError as error:
            raise ValueError(
                f"feature {self.name!r}: the text {text!r}: want {self._wanted()} in ISO 8601"
            ) from error

    def _check_zone(self) -> None:
        """Refuses points in time with a zone if the tree compares times of a clock."""
        if self.local:
            raise TypeError(f"feature {self.name!r}: timestamps with a time zone: want them without one")

    def _wanted(self) -> str:
        """Returns what the feature takes, for messages."""
        return f"{self.unit}s" if self.unit else "numbers" if self.numeric else "texts"


class _Codes(dict[str, float]):
    """The codes of the listed texts of a feature; an item of another value is its code."""

    def __init__(self, feature: Feature) -> None:
        super().__init__((text, float(code)) for code, text in enumerate(feature.values))
        self.feature = feature

    def __missing__(self, value: Any) -> float:
        return self.feature.category(value)


def _numbers(values: tuple[str, ...]) -> dict[float, int]:
    """Returns the code of each number that a value spells.

    The usual spelling comes first: "1" before "01". If all values are booleans, 0 is "false" and 1
    is "true".
    """
    if values and set(values) <= {"false", "true"}:
        return {float(text == "true"): code for code, text in enumerate(values)}
    codes: dict[float, int] = {}
    for code, text in enumerate(values):
        try:
            x = _parse_float(text)
        except (ValueError, OverflowError):
            continue
        if math.isnan(x):
            continue
        usual = text == (str(int(x)) if x.is_integer() else repr(x))
        digits = text.lstrip("+-").isdigit()
        if usual or x not in codes and not (digits and int(text) != x):
            codes[x] = code
    return codes


def _plain(text: str) -> float:
    """Reads a number, or true and false, as Go does."""
    return float(text == "true") if text in ("true", "false") else _parse_float(text)


def _parse_float(text: str) -> float:
    """Reads a number as strconv.ParseFloat of Go does.

    Hexadecimal numbers have an exponent, NaN has no sign, and there are no blanks. Raises ValueError for other
    texts, and ValueError or OverflowError for numbers that float64 cannot hold.
    """
    small = text.lower()
    if "x" in small and _HEXADECIMAL.fullmatch(small):
        return float.fromhex(small.replace("_", ""))
    x = float(text)
    blank = text != text.strip() or not text.isascii()
    if blank or small in ("+nan", "-nan") or math.isinf(x) and "inf" not in small:
        raise ValueError(text)
    return x


def _whole(value: Any) -> int | None:
    """Returns a whole number, which may be a text, or a decimal without a fraction; None for other values."""
    if isinstance(value, str):
        return int(value) if value.lstrip("+-").isdigit() else None
    if isinstance(value, decimal.Decimal):
        exponent = value.as_tuple().exponent  # a letter for NaN and infinities
        return int(value) if isinstance(exponent, int) and exponent >= 0 and value.adjusted() < _DIGITS else None
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64):
        return operator.index(value)
    return None


def _shown(value: Any) -> str:
    """Returns a value for a message, the beginning of a long one."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more than 4,300 digits
        return "a number of too many digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def missing(value: Any) -> bool:
    """Reports whether a value is None, NaN, or NA or NaT of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_qnan()  # a signalling NaN is refused, and cannot be compared
    unequal = not isinstance(value, (str, bytes)) and value != value
    return isinstance(unequal, (bool, np.bool_)) and bool(unequal)  # arrays are compared by element


def _exact(array: npt.NDArray[Any]) -> bool:
    """Reports whether float64 holds each whole number of an array, which may have NaN."""
    return array.dtype.itemsize < 8 or not bool((np.abs(array.astype(float)) >= _EXACT).any())
