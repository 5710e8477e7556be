#!/usr/bin/env python3
"""Reads the folders of data that Espalier writes by pandas, polars, DuckDB and Spark.

    bench/check_readers.py [--sets import,predict,old] [--readers pandas,polars,duckdb] [--espalier BIN]

The script imports a CSV file with a column of each type, and scores synthetic rows in partition folders. Each reader reads the folder by its name, as people do (polars is told that _ hides a file), and must return as
many rows, the same columns and the same sums and missing values as pyarrow reads from the listed data
files. "old" is a folder as versions up to 0.2 wrote it: train must read it, and import --overwrite
replace it. Spark is left out unless --readers names it: it needs Java. The script needs Python, and Go
unless --espalier names a binary; it installs by pip what is missing of pandas, polars, DuckDB and
pyarrow, and of pyspark for Spark.
"""

import glob, json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_readers')

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa, pyarrow.parquet as pq

import judging

csv = 'id,price,bought,day,at,seen,kind,class\n' + ''.join(
    f'{i},{i / 8},{"true" if i % 3 else "false"},2024-01-{i % 28 + 1:02d},2024-01-31T{i % 24:02d}:05:00Z,'
    f'2024-01-31 {i % 24:02d}:05:00,{"" if i % 7 == 0 else "k" + str(i % 5)},{"yes" if i % 5 > 2 else "no"}\n'
    for i in range(300)
)


def run(binary, *args):
    done = subprocess.run([binary, *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{" ".join(args)}: exit code {done.returncode}\n{done.stderr}')


def write(name, binary, below):
    """Writes the folder of a verb, and returns it with a pattern of its data files."""
    out, source = os.path.join(below, 'out'), os.path.join(below, 'x.csv')
    if name == 'predict':
        rows, model = os.path.join(below, 'rows'), os.path.join(below, 'run')
        for part in range(3):
            to = os.path.join(rows, f'part={part}')
            os.makedirs(to)
            half = pa.table({'a': [i % 17 + part for i in range(90)], 'class': ['yes' if i % 17 > 8 else 'no' for i in range(90)]})
            pq.write_table(half, os.path.join(to, 'a.parquet'))
        run(binary, 'train', '--input', rows, '--label', 'class', '--output', model)
        run(binary, 'predict', '--input', rows, '--model', model, '--key', 'a', '--output', out)
    else:
        with open(source, 'w') as f:
            f.write(csv)
        run(binary, 'import', source, '--output', out, '--rows_per_file', '120')
    if name == 'old':
        with open(os.path.join(out, '_manifest.json')) as f:
            manifest = json.load(f)
        os.remove(os.path.join(out, '_manifest.json'))
        with open(os.path.join(out, 'manifest.json'), 'w') as f:
            json.dump(manifest, f)
        run(binary, 'train', '--input', out, '--label', 'class', '--output', os.path.join(below, 'run'))
        run(binary, 'import', source, '--output', out, '--overwrite')
    return out


def pandas_frame(folder):
    return pd.read_parquet(folder)


def polars_frame(folder):
    return pl.scan_parquet(folder, hidden_file_prefix='_').collect().to_pandas()  # it refuses names with _ without this


def duckdb_frame(folder):
    return duckdb.sql(f"select * from read_parquet('{folder}/**/*.parquet', hive_partitioning = true)").df()


def spark_frame(folder):
    need('check_readers_spark')
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()
    spark.sparkContext.setLogLevel('ERROR')
    return pd.DataFrame([row.asDict() for row in spark.read.parquet(folder).collect()])


frames = {'pandas': pandas_frame, 'polars': polars_frame, 'duckdb': duckdb_frame, 'spark': spark_frame}


def facts(frame):
    """What two readings of one folder have in common: rows, and by column missing values and the sum."""
    found = {'rows': len(frame)}
    for name in frame.columns:
        column = frame[name]
        numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        found[name] = int(column.isna().sum()), round(float(column.sum()), 6) if numeric else None
    return found


def judge(name, binary, below, readers):
    folder = write(name, binary, below)
    files = sorted(glob.glob(os.path.join(folder, '**', '*.parquet'), recursive=True))
    want = facts(pa.concat_tables(pq.ParquetFile(f).read() for f in files).to_pandas())
    foreign = [
        n for at, _, names in os.walk(folder) for n in names if not n.startswith('_') and not n.endswith('.parquet')
    ]
    fine = not foreign
    if foreign:
        print(f'{name}: {foreign} are no data, and have names without _')
    for reader in readers:
        try:
            got = {k: v for k, v in facts(frames[reader](folder)).items() if k in want}
        except Exception as e:  # a reader that fails is what this script looks for
            got = repr(e)[:400]
        print(f'{name}, {reader}: {"the same rows and columns" if got == want else got}')
        fine &= got == want
    return fine


if __name__ == '__main__':
    judging.main(
        __doc__,
        ['import', 'predict', 'old'],
        judge,
        readers=['pandas', 'polars', 'duckdb'],
    )
