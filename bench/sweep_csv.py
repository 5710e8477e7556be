#!/usr/bin/env python3
"""Imports the CSV files that other projects keep as tests and examples, and compares them with pandas.

    bench/sweep_csv.py FOLDER|REPOSITORY.. [--espalier BIN] [--list]

Each FOLDER is searched for files *.csv, *.tsv and *.csv.gz; of a bare git repository the files of HEAD are
taken. `import` must end with exit code 0 and the values that pandas reads as texts, or with exit code 2 or 3
and one sentence. Texts are compared as they are, numbers and points in time by their values; rows without
any value, which import leaves out, are left out of both. The delimiter of pandas is the comma, or the
one of semicolon, tab and bar with which the columns agree. The script prints the number of files with each
outcome, and with --list the sentences; it ends with 1 if a value differs or import fails otherwise. It needs
Python, and Go unless --espalier names a binary; it installs by pip what is missing of pandas and pyarrow.
"""

import argparse, collections, datetime, io, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('sweep_csv')

import pandas as pd
import pyarrow as pa, pyarrow.parquet as pq

from judging import root

endings = '.csv', '.tsv', '.csv.gz', '.tsv.gz'
missing = {'', 'NA', 'N/A', 'n/a', '#N/A', '<NA>', 'NULL', 'null', 'NaN', 'nan'}
most = 30_000_000  # bytes of a file
epoch = datetime.datetime(1970, 1, 1)


def files(source):
    """The files of a folder or a bare repository: names and contents."""
    if os.path.exists(os.path.join(source, 'HEAD')):
        git = 'git', '--git-dir', source
        listed = subprocess.run([*git, 'ls-tree', '-r', '-l', 'HEAD'], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            head, name = line.split('\t', 1)
            mode, kind, blob, size = head.split()
            if name.lower().endswith(endings) and kind == 'blob' and mode != '120000' and size.isdigit() and int(size) <= most:  # else it is absent
                done = subprocess.run([*git, 'cat-file', 'blob', blob], capture_output=True)
                if done.returncode == 0:  # the largest are listed and absent
                    yield name, done.stdout
        return
    for at, _, names in os.walk(source):
        for name in sorted(names):
            path = os.path.join(at, name)
            if name.lower().endswith(endings) and os.path.isfile(path) and os.path.getsize(path) <= most:
                with open(path, 'rb') as f:
                    yield os.path.relpath(path, source), f.read()


def texts(content, name, delimiter):
    """The columns of a file as pandas reads them, each value as a text."""
    kind = 'gzip' if content[:2] == b'\x1f\x8b' else None
    frame = pd.read_csv(
        io.BytesIO(content), sep=delimiter, dtype=str, keep_default_na=False, na_filter=False, header=None, compression=kind,
        encoding='utf-8-sig', index_col=False,
    )
    names, rows = frame.iloc[0], frame.iloc[1:]
    rows = rows[(rows != '').any(axis=1)] if len(frame.columns) > 1 else rows
    return {n: list(rows[c]) for c, n in zip(frame.columns, names) if n}


def same(value, text, kind):
    """Whether an imported value is what a text says."""
    if value is None or text in missing:
        return value is None and text in missing
    if pa.types.is_string(kind):
        return value == text.replace('\r\n', '\n') or value == text
    if pa.types.is_boolean(kind):
        return text.lower() == str(value).lower()
    if pa.types.is_integer(kind):
        return value == int(text)
    if pa.types.is_floating(kind):
        return value == float(text)
    if pa.types.is_time(kind):
        return value == datetime.time.fromisoformat(text)
    said = datetime.datetime.fromisoformat(text)
    if said.tzinfo:
        said = said.astimezone(datetime.timezone.utc)
    return value == said.date() if pa.types.is_date(kind) else value == said


def difference(table, want):
    """The first difference, or an empty text."""
    if set(want) != set(table.column_names):
        return f'columns {table.column_names[:9]}, pandas has {list(want)[:9]}'
    for name in want:
        got, kind = table[name].to_pylist(), table.schema.field(name).type
        if len(got) != len(want[name]):
            return f'{len(got)} rows, pandas has {len(want[name])}'
        for row, (value, text) in enumerate(zip(got, want[name])):
            try:
                fine = same(value, text, kind)
            except ValueError:
                fine = False
            if not fine:
                return f'row {row}, column {name!r}: {value!r}, pandas has {text!r}'
    return ''


def judge(binary, name, content, folder):
    """The outcome for a file, and a sentence."""
    path, out = os.path.join(folder, 'x' + os.path.splitext(name)[1]), os.path.join(folder, 'out')
    with open(path, 'wb') as f:
        f.write(content)
    subprocess.run(['rm', '-rf', out])
    done = subprocess.run([binary, 'import', path, '--output', out, '--progress', 'none'], capture_output=True, timeout=600)
    said = done.stderr.decode('utf-8', 'replace').strip()
    if done.returncode in (2, 3) and said.count('espalier: ') == 1 and 'panic' not in said:
        return 'one sentence', said.splitlines()[-1].replace(path, name)
    if done.returncode:
        return 'failed', f'exit code {done.returncode}: {said[-300:]}'
    table = pa.concat_tables(pq.read_table(os.path.join(out, f)) for f in sorted(os.listdir(out)) if f.startswith('part-'))
    told, first = ('equal, with a warning' if 'warning: ' in said else 'equal'), ''
    for delimiter in ',', ';', '\t', '|':
        try:
            found = difference(table, texts(content, name, delimiter))
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, EOFError, OSError) as e:
            found = f'pandas fails: {str(e)[:150]}'
        if not found:
            return told, ''
        first = first or found
    return ('only import reads it' if first.startswith('pandas fails') else 'other values'), first


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('sources', nargs='+')
    ap.add_argument('--espalier', help='a binary to use instead of building one')
    ap.add_argument('--list', action='store_true', help='print the sentence about each file')
    options = ap.parse_args()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        binary = options.espalier
        if not binary:
            binary = os.path.join(folder, 'espalier')
            subprocess.run(['go', 'build', '-o', binary, './cmd/espalier'], cwd=root, check=True)
        for source in options.sources:
            counts = collections.Counter()
            for name, content in files(source):
                outcome, sentence = judge(binary, name, content, folder)
                counts[outcome] += 1
                if outcome in ('failed', 'other values') or options.list and sentence:
                    print(f'{outcome}: {name}: {sentence}', flush=True)
            print(f'{source}: {sum(counts.values())} files: {dict(sorted(counts.items()))}', flush=True)
            total += counts
    print(f'all: {sum(total.values())} files: {dict(sorted(total.items()))}')
    sys.exit(total['failed'] + total['other values'] > 0)


if __name__ == '__main__':
    main()
