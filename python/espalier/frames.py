"""Rows of Python: frames of pandas and polars, Arrow tables, mappings and sequences, as columns and as Parquet."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Columns:
    """The columns of rows by name."""

    def __init__(self, rows: Any) -> None:
        """Takes a frame of pandas or polars, an Arrow table, or a mapping from names to columns."""
        self._rows = rows
        names = getattr(rows, "column_names", None)  # Arrow
        if names is None:
            if not self.has(rows) or hasattr(rows, "collect"):  # not yet a frame of polars
                raise TypeError(f"rows of type {type(rows).__name__}: want a frame, an Arrow table or a mapping of columns")
            names = rows.keys() if isinstance(rows, Mapping) else rows.columns
        self.names = list(names)
        if len(set(self.names)) < len(self.names):
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            raise ValueError(f"two columns are called {twice[0]!r}: want a name for each column")
        if isinstance(rows, Mapping):
            self._check_lengths(rows)

    @staticmethod
    def _check_lengths(columns: Mapping[Any, Any]) -> None:
        """Refuses columns of other lengths than the first one, and values that are no columns."""
        first = next(iter(columns), None)
        for name, column in columns.items():
            single = isinstance(column, (str, bytes, set, frozenset)) or getattr(column, "ndim", 1) == 0
            if single or not hasattr(column, "__len__"):
                raise TypeError(
                    f"the column {name!r} is {column!r}: want a list of values; a single row is a list with one mapping"
                )
            if len(column) != len(columns[first]):
                raise ValueError(
                    f"the column {name!r} has {len(column)} values, and {first!r} has {len(columns[first])}: "
                    "want as many for each"
                )

    @staticmethod
    def has(rows: Any) -> bool:
        """Reports whether rows have named columns."""
        return isinstance(rows, Mapping) or hasattr(rows, "columns")

    def __getitem__(self, name: str) -> Any:
        column = self._rows[name]
        kind: Any = getattr(column, "type", None)
        if hasattr(kind, "value_type") and hasattr(kind, "index_type"):  # codes of Arrow: to_numpy loses the nulls
            column = column.cast(kind.value_type)
        return column

    def __len__(self) -> int:
        """Returns the number of rows."""
        if isinstance(self._rows, Mapping):
            return len(next(iter(self._rows.values()), ()))
        return len(self._rows)


def like(rows: Any, columns: Mapping[str, Any]) -> Any:
    """Returns columns as a frame of the kind of the rows: pandas with their index, polars, Arrow, or else a dict."""
    kind = type(rows).__module__.partition(".")[0]
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns, index=rows.index)
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    if kind == "pyarrow":
        import pyarrow

        return pyarrow.table(columns)
    return dict(columns)


def table(rows: Any) -> Any:
    """Returns rows as an Arrow table, without the index of pandas.

    Raises ImportError without pyarrow, TypeError for other rows, and ValueError if a column has values of
    several types, or no name of its own.
    """
    import pyarrow

    if isinstance(rows, pyarrow.Table):
        return rows
    columns = Columns(rows)
    if "" in columns.names:  # training would leave it out
        raise ValueError("a column has an empty name: want a name for each column")
    return pyarrow.table({str(name): _array(str(name), columns[name]) for name in columns.names})


def _array(name: str, column: Any) -> Any:
    """Returns a column as an Arrow array. NaN is a missing value."""
    import pyarrow

    if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        array: Any = column
    elif hasattr(column, "to_arrow"):  # polars
        array = column.to_arrow()
    else:
        try:
            array = pyarrow.array(column, from_pandas=True)
        except (pyarrow.ArrowException, OverflowError) as error:
            raise ValueError(f"the column {name!r}: {error}") from error
    kind = array.type.value_type if pyarrow.types.is_dictionary(array.type) else array.type
    if pyarrow.types.is_duration(kind) or isinstance(kind, pyarrow.BaseExtensionType):
        raise ValueError(f"the column {name!r} is of the type {kind}: want numbers, texts, booleans or points in time")
    return array


@contextmanager
def folder() -> Iterator[str]:
    """Makes a folder for the time of a call."""
    path = tempfile.mkdtemp(prefix="espalier")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write(rows: Any, path: str) -> None:
    """Writes rows, as table takes them, to a Parquet file."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(table(rows), path, compression="none")


def encoded_columns(arrow: Any, named: Container[str]) -> dict[str, Any]:
    """Returns settings that the types of an Arrow table stand for, but for columns that are named already.

    categorical has the columns of categories that are numbers, and ordered the columns of texts with an order, with
    their values from the least to the greatest. Raises ValueError for ordered numbers that do not ascend.
    """
    import pyarrow

    categorical: list[str] = []
    ordered: dict[str, list[str]] = {}
    for field, column in zip(arrow.schema, arrow.columns):
        if not pyarrow.types.is_dictionary(field.type) or field.name in named or not column.num_chunks:
            continue
        text = pyarrow.types.is_string(field.type.value_type) or pyarrow.types.is_large_string(field.type.value_type)
        values = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
        if text and len(values) > 1 and (field.type.ordered or b"_PL_ENUM_VALUES2" in (field.metadata or {})):
            ordered[field.name] = values
        elif not text and not field.type.ordered:
            categorical.append(field.name)
        elif not text and values != sorted(values):
            raise ValueError(f"the column {field.name!r} has ordered numbers that do not ascend: make them texts, or unordered")
    return {"categorical": categorical, "ordered": ordered}
