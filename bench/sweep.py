#!/usr/bin/env python3
"""Compares what Espalier reads of Parquet files with what pyarrow reads, value by value.

usage: sweep.py FOLDER...

Each file below the folders is read by both. A folder of a bare Git repository (its objects are
files of a snapshot) is read as it is, each content once. The outcomes:

  equal      all columns have pyarrow's values
  partly     some columns are refused in a sentence (nested ones, for example), the others are equal
  refused    the file, or each of its columns, is refused in a sentence
  unjudged   pyarrow cannot read what Espalier reads
  DIFFERENT  a value differs, or the number of rows
  FAULT      a panic, no sentence, or no end within a minute
"""

import collections
import concurrent.futures
import decimal
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from needs import need

need("sweep")

import pyarrow as pa
import pyarrow.parquet as pq

NAMES = re.compile(r"\.(parquet|parq|pq)$", re.I)
MOST = 64 << 20  # bytes of a file


def files(folder):
    if not os.path.exists(os.path.join(folder, "HEAD")):
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file() and NAMES.search(p.name)):
            yield str(path), str(path.relative_to(folder))
        return
    git = ["git", "--git-dir", folder]
    with tempfile.TemporaryDirectory() as out:
        listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
        seen = set()
        for line in listed.decode(errors="surrogateescape").split("\0"):
            about, _, name = line.partition("\t")
            if not NAMES.search(name) or about.split()[2] in seen:
                continue
            seen.add(about.split()[2])  # the same bytes under another name say nothing new
            blob = subprocess.run([*git, "cat-file", "blob", about.split()[2]], capture_output=True)
            if blob.returncode == 0 and 12 <= len(blob.stdout) <= MOST:
                path = os.path.join(out, "f.parquet")
                pathlib.Path(path).write_bytes(blob.stdout)
                yield path, name


def espalier(program, path):
    try:
        done = subprocess.run([program, path], capture_output=True, timeout=60)
        return json.loads(done.stdout, parse_int=float)
    except subprocess.TimeoutExpired:
        return {"fault": "NO SENTENCE: no end"}
    except ValueError:
        return {"fault": "NO SENTENCE: " + done.stderr.decode(errors="replace")[:300]}


def want(x, kind):
    """A value of pyarrow as Espalier has it."""
    if x is None:
        return None
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, (int, float)):
        return None if isinstance(x, float) and math.isnan(x) else x
    if isinstance(x, (decimal.Decimal, bytes)):
        return x
    return str(x)


def column(path, i):
    """The values of a top-level column by its position, times as counts."""
    file = pq.ParquetFile(path, arrow_extensions_enabled=False, coerce_int96_timestamp_unit="us")
    schema = file.schema_arrow
    data = file.read(columns=[schema.field(i).name]).column(0)
    kind = data.type
    if pa.types.is_dictionary(kind):
        data = data.cast(kind.value_type)
        kind = data.type
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_date(kind):
        unit = getattr(kind, "unit", "s")
        wide = pa.types.is_date64(kind) or pa.types.is_timestamp(kind) or pa.types.is_time64(kind)
        counts = data.cast(pa.int64() if wide else pa.int32()).to_pylist()
        if pa.types.is_date64(kind):
            return [None if x is None else x // 86400000 for x in counts]
        if pa.types.is_date(kind):
            return counts
        up = {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}[unit]
        down = 1000 if unit == "ns" else 1
        return [None if x is None else x * up // down for x in counts]
    return [want(x, kind) for x in data.to_pylist()]


def same(got, x):
    if got is None or x is None:
        return got is x
    if isinstance(got, str):
        if isinstance(x, (int, decimal.Decimal)):
            return decimal.Decimal(got) == x
        if isinstance(x, float):
            return float(got) == x
        if isinstance(x, bytes):
            return got.encode() == x or got.replace("-", "") == x.hex()
        return got == x
    if isinstance(x, (str, bytes)):
        return False
    return got == float(x)


def judge(path, read):
    """The outcome of a file, with a remark."""
    if "fault" in read:
        return ("FAULT" if "NO SENTENCE" in read["fault"] else "refused"), read["fault"]
    refused, unjudged, equal = [], [], 0
    for i, c in enumerate(read["columns"]):
        if "fault" in c:
            if "NO SENTENCE" in c["fault"]:
                return "FAULT", c["fault"]
            refused.append(c["fault"])
            continue
        try:
            values = column(path, i)
        except Exception as e:  # of any kind: what pyarrow says of a file
            unjudged.append(f'{c["name"]}: {str(e)[:200]}')
            continue
        if len(values) != len(c["values"]):
            return "DIFFERENT", f'{c["name"]}: {len(c["values"])} rows, pyarrow has {len(values)}'
        for r, (got, x) in enumerate(zip(c["values"], values)):
            if not same(got, x):
                return "DIFFERENT", f'{c["name"]}, row {r}: {got!r}, pyarrow has {x!r}'
        equal += 1
    if unjudged:
        return "unjudged", unjudged[0]
    if refused:
        return ("partly" if equal else "refused"), refused[0]
    return "equal", ""


def main(folders):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "sweep")
        subprocess.run(["go", "build", "-o", program, "./bench/sweep"], check=True)
        total, sentences = collections.Counter(), collections.Counter()
        for source in folders:
            count = collections.Counter()
            pool = concurrent.futures.ProcessPoolExecutor(1)
            for path, name in files(source):
                try:
                    outcome, remark = pool.submit(judge, path, espalier(program, path)).result(timeout=120)
                except Exception as e:  # pyarrow has ended its process, or does not end
                    outcome, remark = "unjudged", f"pyarrow: {type(e).__name__}"
                    pool = concurrent.futures.ProcessPoolExecutor(1)
                count[outcome] += 1
                remark = remark.replace(path, "FILE")
                if outcome.isupper() or outcome == "unjudged" or os.environ.get("VERBOSE"):
                    print(f"  {outcome}: {name}: {remark}"[:500], flush=True)
                if outcome in ("refused", "partly"):
                    sentences[re.sub(r'"[^"]*"|\d+', "_", remark)[:160]] += 1
            print(f"{source}: {sum(count.values())} files, {dict(count)}", flush=True)
            total += count
        print(f"all: {sum(total.values())} files, {dict(total)}")
        for sentence, n in sentences.most_common(60):
            print(f"  {n:5} {sentence}")
        return 1 if total["DIFFERENT"] + total["FAULT"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
