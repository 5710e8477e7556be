"""Writes the fixtures of this folder: python3 make.py (pyarrow, numpy)."""

import datetime
import decimal
import json
import math
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 35


def spell(x):
    """Spells a number so that it reads back, and texts as they are; missing values are empty."""
    if x is None:
        return ""
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, (int, float, np.floating, decimal.Decimal)):
        x = float(x)
        if math.isnan(x):
            return ""
        return repr(x)
    return str(x)


def holes(values):
    return [None if i % 7 == 3 else v for i, v in enumerate(values)]


def columns():
    n = range(ROWS)
    day = datetime.date(1969, 12, 20)
    yield "bool", pa.bool_(), [i % 3 == 0 for i in n], None
    for bits in (8, 16, 32, 64):
        yield f"int{bits}", getattr(pa, f"int{bits}")(), [(i - 30) * 2 ** min(bits - 7, 46) for i in n], None
        yield f"uint{bits}", getattr(pa, f"uint{bits}")(), [i * 2 ** (bits - 6) for i in n], None
    yield "float16", pa.float16(), [np.float16((i - 30) / 7) for i in n], None
    yield "float32", pa.float32(), [float(np.float32((i - 30) / 7)) for i in n], None
    yield "float64", pa.float64(), [-0.0, math.nan, math.inf, -math.inf, 5e-324] + [i / 7 for i in n][5:], None
    yield "decimal9", pa.decimal128(9, 2), [decimal.Decimal(i * 7 - 99) / 100 for i in n], None
    yield "decimal18", pa.decimal128(18, 5), [decimal.Decimal(i * 77777777777 - 99) / 100000 for i in n], None
    yield "decimal38", pa.decimal128(38, 10), [decimal.Decimal((i - 30) * 7**30).scaleb(-10) for i in n], None
    yield "decimal76", pa.decimal256(76, 20), [decimal.Decimal((i - 30) * 7**60).scaleb(-20) for i in n], None
    yield "date", pa.date32(), [day + datetime.timedelta(i) for i in n], [i - 12 for i in n]
    ticks = [(i - 30) * 1000003 for i in n]
    yield "time32", pa.time32("ms"), [abs(t) for t in ticks], [abs(t) for t in ticks]
    yield "time64", pa.time64("us"), [abs(t) for t in ticks], [abs(t) for t in ticks]
    for unit in ("ms", "us", "ns"):
        yield f"timestamp_{unit}", pa.timestamp(unit, "UTC"), ticks, ticks
    texts = ["", "a", "Zürich", "日本", "a" * 40] * (ROWS // 5)
    yield "string", pa.string(), texts, None
    yield "binary", pa.binary(), [t.encode() for t in texts], texts
    yield "dictionary", pa.dictionary(pa.int8(), pa.string()), texts, None
    ids = [uuid.UUID(int=i * 2**100 + i) for i in n]
    yield "uuid", pa.uuid(), [u.bytes for u in ids], ids
    yield "null", pa.null(), [None] * ROWS, None
    yield "fixed", pa.binary(3), [b"abc"] * ROWS, "refused"
    yield "list", pa.list_(pa.int32()), [[i] for i in n], "nested"
    yield "struct", pa.struct([("a", pa.int32())]), [{"a": i} for i in n], "nested"
    yield "map", pa.map_(pa.string(), pa.int32()), [[("k", i)] for i in n], "nested"


def table(names=None):
    arrays, want = {}, {}
    for name, kind, values, spelled in columns():
        if names and name not in names:
            continue
        if kind == pa.uuid():
            arrays[name] = pa.ExtensionArray.from_storage(kind, pa.array(holes(values), pa.binary(16)))
        elif kind == pa.dictionary(pa.int8(), pa.string()):
            arrays[name] = pa.array(holes(values)).dictionary_encode()
        else:
            arrays[name] = pa.array(holes(values), kind)
        if isinstance(spelled, str):
            want[name] = spelled
        else:
            want[name] = [spell(v) for v in holes(spelled or values)]
    return pa.table(arrays), want


def write(name, names=None, **options):
    data, want = table(names)
    pq.write_table(data, name + ".parquet", store_schema=False, row_group_size=25, **options)
    with open(name + ".json", "w") as f:
        json.dump(want, f, ensure_ascii=False)
        f.write("\n")


write("types", compression="snappy", version="2.6")
write("types_v2_zstd_plain", compression="zstd", data_page_version="2.0", use_dictionary=False, write_page_checksum=True)
write("int96", ["timestamp_ns"], use_deprecated_int96_timestamps=True)
write(
    "encodings",
    compression={"int64": "LZ4", "float64": "GZIP", "decimal38": "BROTLI", "string": "ZSTD"},
    use_dictionary=False,
    data_page_version="2.0",
    column_encoding={
        "bool": "RLE", "int32": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "uint64": "DELTA_BINARY_PACKED",
        "date": "BYTE_STREAM_SPLIT", "timestamp_us": "DELTA_BINARY_PACKED", "string": "DELTA_BYTE_ARRAY",
        "binary": "DELTA_LENGTH_BYTE_ARRAY", "float16": "BYTE_STREAM_SPLIT", "float32": "BYTE_STREAM_SPLIT",
        "float64": "BYTE_STREAM_SPLIT", "decimal38": "BYTE_STREAM_SPLIT", "uuid": "DELTA_BYTE_ARRAY",
    },
    names=[
        "bool", "int32", "int64", "uint64", "date", "timestamp_us", "string", "binary", "float16", "float32",
        "float64", "decimal38", "uuid",
    ],
)


def frame():
    """A data frame of pandas whose rows were sorted by class: its index has a name in part."""
    rows = [{"x": i * 7 % 10, "class": "pq"[i // 20], "shop": "s%d" % (i // 4), "__index_level_1__": i} for i in range(40)]
    note = {"index_columns": ["shop", "__index_level_1__", {"kind": "range", "name": None}], "columns": []}
    return pa.Table.from_pylist(rows).replace_schema_metadata({"pandas": json.dumps(note)})


pq.write_table(frame(), "frame.parquet")
with open("frame.json", "w") as f:
    json.dump({name: [spell(v) for v in column] for name, column in frame().to_pydict().items()}, f)
    f.write("\n")


def digits():
    """Whole numbers that float64 does not hold. The class follows the last digit of each."""
    n = range(40)
    return pa.table({
        "int64": pa.array(holes([2**60 + i % 4 for i in n]), pa.int64()),
        "uint64": pa.array([2**64 - 1 - i % 4 for i in n], pa.uint64()),
        "decimal38": pa.array(holes([decimal.Decimal(10**30 + i % 4) for i in n]), pa.decimal128(38, 0)),
        "decimal18": pa.array([decimal.Decimal(i % 4 - 9 * 10**16) for i in n], pa.decimal128(18, 0)),
        "small": pa.array([i % 4 for i in n], pa.int64()),
        "money": pa.array([decimal.Decimal(i % 4) / 4 for i in n], pa.decimal128(38, 18)),
        "class": pa.array(["even" if i % 2 == 0 else "odd" for i in n]),
    })


pq.write_table(digits(), "digits.parquet", row_group_size=25, use_dictionary=["int64", "decimal18"])


def durations(unit):
    """Durations of Arrow, which Parquet stores as numbers: only Arrow's schema in the footer has their units."""
    units = {"wait": unit, "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
    columns = {name: pa.array([1, None, 3], pa.duration(u)) for name, u in units.items()}
    return pa.table({"class": pa.array(["p", "q", "p"]), **columns, "number": pa.array([1, 2, 3], pa.int64())})


for unit in ("us", "ns"):
    pq.write_table(durations(unit), "durations_%s.parquet" % unit)
