#!/usr/bin/env python3
"""Runs exported SQL where databases differ from Espalier: time zones, collations, second deployments.

    bench/check_sql.py [--rows_of N] [--every N] [--espalier BINARY]

A tree is trained on synthetic rows with local timestamps, timestamps in UTC, dates, times, texts that
differ in case, accents and blanks, missing numbers and NaN. Its SQL must give the leaf of `espalier
predict` for every row

- in PostgreSQL under three time zones of the session, by the view and by the function, for columns of
  timestamps with and without a time zone, and with each of the collations of the server, of which there are 800:
  each N-th is tried, and four of texts that are equal though their bytes are not;
- in DuckDB with its own collations and each N-th of its locales, as collation of the column and as default_collation;
- in SQLite with each of its collations and one of its own, and with numbers that are stored as texts;
- in all of them after a second deployment: of another tree, on the table with other columns.

It fails if any row differs, or if an earlier view or function goes on serving. It needs Python with
duckdb, numpy and pyarrow, PostgreSQL, and Go unless --espalier names a binary.
"""

import datetime, json, os, sqlite3, subprocess, sys

sys.dont_write_bytecode = True

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import judging

sys.path.insert(0, os.path.join(judging.root, 'io', 'export', 'drivers'))
from pg_server import server

start = 1767225600_000000  # 2026-01-01, in microseconds
cities = ['Porto', 'porto', 'PORTO', 'Köln', 'Koln', 'köln', 'Graz ', 'Graz', 'straße', 'strasse', '', 'İzmir']
zones = ['UTC', 'America/New_York', 'Asia/Kathmandu']


def rows(n, seed):
    """Returns rows of which every column matters for the class."""
    r = np.random.default_rng(seed)
    at = start + r.integers(0, 90 * 86400, n) * 1_000_000 + r.integers(0, 1_000_000, n)
    seen = start + r.integers(0, 90 * 86400, n) * 1_000_000
    day = r.integers(20400, 20600, n)
    clock = r.integers(0, 86400, n) * 1_000_000
    city = r.integers(0, len(cities), n)
    amount = np.round(r.normal(0, 100, n), 2)
    bits = [at > start + 45 * 86400_000000, seen > start + 30 * 86400_000000, day > 20500, clock > 43200_000000, amount > 10]
    label = sum(b.astype(int) << i for i, b in enumerate(bits)) * 2 + (city % 3 == 0)
    lost = r.random(n)
    return pa.table({
        'row_at': pa.array(np.arange(n)),
        'at': pa.array(at, pa.timestamp('us')),
        'seen': pa.array(seen, pa.timestamp('us', 'UTC')),
        'day': pa.array(day.astype('int32'), pa.date32()),
        'clock': pa.array(clock, pa.time64('us')),
        'city': pa.array([None if x < .03 else cities[c] for c, x in zip(city, lost)]),
        'amount': pa.array([None if x > .97 else float('nan') if x > .94 else float(a) for a, x in zip(amount, lost)], pa.float64()),
        'class': pa.array([f'c{k % 24}' for k in label]),
    })


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Deployed:
    """A tree, its leaves for the rows, and its file for each dialect."""

    def __init__(self, binary, folder, name, data, ignored, extras):
        self.run, self.folder, self.binary, self.extras = os.path.join(folder, name), folder, binary, extras
        run(binary, 'train', '--input', data, '--label', 'class', '--ignore', ignored, '--output', self.run, '--progress', 'none',
            '--certificate', 'none', '--report', 'none', '--split', '100/0/0', '--prune', 'none', '--theta', '0.002', '--select', 'highest',
            '--folds', '2')
        run(binary, 'predict', '--model', self.run, '--input', data, '--key', 'row_at', '--output', self.run + '-rows', '--progress', 'none')
        done = pq.read_table([os.path.join(self.run + '-rows', f) for f in os.listdir(self.run + '-rows') if f.endswith('.parquet')])
        self.leaf = dict(zip(done['row_at'].to_pylist(), done['leaf'].to_pylist()))
        assert len(set(self.leaf.values())) > 20, 'a small tree shows little'
        with open(os.path.join(self.run, 'tree.json')) as f:
            self.features = [f['name'] for f in json.load(f)['features']]

    def sql(self, dialect, table='t'):
        file = f'{self.run}.{dialect}.sql'
        run(self.binary, 'export', self.run, '--format', 'sql', '--dialect', dialect, '--table', table, '--with', self.extras,
            '--output', file, '--overwrite')
        with open(file, encoding='utf-8') as f:
            return f.read()

    def differing(self, pairs):
        """Returns how many rows have another leaf; pairs are rows with their leaves."""
        found = dict(pairs)
        return sum(found.get(k) != leaf for k, leaf in self.leaf.items()) + sum(k not in self.leaf for k in found)


def report(name, wrong, of):
    print(f'{name}: {"ok" if wrong == 0 else "FAIL"}: {wrong} of {of} rows differ', flush=True)
    return wrong == 0


def quoted(value):
    return 'NULL' if value is None else "'" + str(value).replace("'", "''") + "'"


def insert(table, data, zoned):
    """Returns statements that insert the rows; zoned columns get the zone of UTC."""
    lines = []
    for r in data.to_pylist():
        r.pop('class')
        for name, value in r.items():
            if isinstance(value, datetime.datetime):
                r[name] = value.replace(tzinfo=None).isoformat(' ', 'microseconds') + ('+00' if name in zoned else '')
        lines.append('(' + ', '.join(map(quoted, r.values())) + ')')
    return f'INSERT INTO {table} VALUES ' + ',\n'.join(lines) + ';'


def postgresql(first, second, data, every):
    types = {'row_at': 'bigint', 'at': 'timestamp', 'seen': 'timestamptz', 'day': 'date', 'clock': 'time', 'city': 'text', 'amount': 'float8'}
    fine = True
    with server() as psql:
        def ask(text, fails=False):
            done = subprocess.run([*psql, '-At', '-F', ' '], input=text, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL if fails else None)
            return None if done.returncode else [tuple(map(int, line.split())) for line in done.stdout.split('\n') if line]

        def table(changed):
            all = {**types, **changed}
            zoned = [n for n, t in all.items() if t == 'timestamptz']
            return ("SET client_min_messages = warning; SET timezone = 'UTC'; SET jit = off; DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t ("
                    + ', '.join(f'{n} {t}' for n, t in all.items()) + '); ' + insert('t', data, zoned))

        def served(tree, name, exact=True):
            fine = True
            for zone in zones:
                fine &= report(f'postgresql, {name}, view, {zone}',
                               tree.differing(ask(f"SET timezone = '{zone}'; SELECT row_at, leaf FROM model") or []), len(tree.leaf))
                arguments = ask("SELECT 1 FROM pg_proc WHERE proname = 'model_row' AND 'leaf' <> ALL (proargnames)")
                fine &= arguments == []
                values = ', '.join('t.' + f for f in tree.features)
                text = f"SET timezone = '{zone}'; SELECT row_at, p.leaf FROM t CROSS JOIN LATERAL model_row({values}) AS p"
                got = ask(text, not exact)
                if exact or got is not None:  # local timestamps are no timestamps with a time zone: an error
                    fine &= report(f'postgresql, {name}, function, {zone}', tree.differing(got or []), len(tree.leaf))
            return fine

        for name, changed in [('own types', {}), ('UTC without a zone', {'seen': 'timestamp'}), ('local with a zone', {'at': 'timestamptz'})]:
            fine &= ask(table(changed) + first.sql('postgresql')) is not None
            fine &= served(first, name, 'local' not in name)
        ask('CREATE VIEW beside AS SELECT 1 AS one; CREATE FUNCTION model_row(text) RETURNS text LANGUAGE sql AS $$ SELECT $1 $$')
        assert ask("ALTER TABLE t ADD COLUMN note text; " + second.sql('postgresql')) is not None, 'the second deployment fails'
        assert ask("SELECT 1 FROM pg_proc WHERE proname = 'model_row' AND prosrc = ' SELECT $1 '") == [(1,)], 'a function of others is gone'
        ask('DROP FUNCTION model_row(text)')
        fine &= served(second, 'second deployment, other columns', False)
        assert ask(table({}) + second.sql('postgresql')) is not None
        fine &= served(second, 'on a new table')
        assert ask('CREATE VIEW above AS SELECT row_at, leaf FROM model; ' + second.sql('postgresql')) is not None, 'a view above it hinders'
        ask('DROP VIEW above')
        own = ''.join(f"CREATE COLLATION public.equal{i} (provider = icu, locale = '{locale}', deterministic = false);"
                      for i, locale in enumerate(['und-u-ks-level2', 'und-u-ks-level1', 'de-u-ks-level1-ka-shifted', 'tr-u-ks-level2']))
        ask(own)
        done = subprocess.run([*psql, '-At', '-c', "SELECT quote_ident(nspname) || '.' || quote_ident(collname) FROM pg_collation c JOIN "
                               "pg_namespace n ON n.oid = collnamespace WHERE collencoding IN (-1, pg_char_to_encoding('UTF8')) AND "
                               "nspname IN ('pg_catalog', 'public')"], text=True, stdout=subprocess.PIPE, check=True)
        collations, source = done.stdout.split('\n')[:-1], first.sql('postgresql')
        collations = [c for i, c in enumerate(collations) if i % every == 0 or c.startswith('public.')]
        ask(table({}) + 'CREATE TABLE wanted (row_at bigint, leaf integer); INSERT INTO wanted VALUES '
            + ', '.join(f'({k}, {v})' for k, v in first.leaf.items()))
        few = min(100, len(first.leaf))
        text = f"SET client_min_messages = warning; SET check_function_bodies = off; SET jit = off; CREATE TABLE few AS SELECT * FROM t WHERE row_at < {few};"
        for c in collations:
            text += (f'DROP TABLE t CASCADE; CREATE TABLE t ({", ".join(f"{n} {t}" for n, t in types.items())}); ALTER TABLE t ALTER city TYPE '
                     f'text COLLATE {c}; INSERT INTO t SELECT * FROM few;' + source
                     + 'SELECT count(*), count(*) FILTER (WHERE m.leaf IS DISTINCT FROM w.leaf) FROM wanted w JOIN model m USING (row_at);')
        counts = ask(text) or []
        wrong = sum(c != (few, 0) for c in counts) + len(collations) - len(counts)
        fine &= report(f'postgresql, {len(collations)} collations', wrong, len(collations))
    return fine


def duck(first, second, data, every):
    fine = True
    all = [r[0] for r in duckdb.connect().execute('SELECT collname FROM pragma_collations()').fetchall()]
    plain = ['', 'binary', 'nocase', 'noaccent', 'nfc', 'nocase.noaccent', 'nfc.nocase.noaccent']
    all = plain + [c for i, c in enumerate(all) if i % every == 0 and c not in plain]

    def table(db, collate='', more=''):
        db.execute('DROP TABLE IF EXISTS t')
        db.register('given', data)
        db.execute(f'CREATE TABLE t (row_at bigint, "at" timestamp, seen timestamptz, day date, clock time, '
                   f'city varchar {collate}, amount double)')
        db.execute("INSERT INTO t SELECT row_at, \"at\", seen, day, clock, city, amount FROM given")
        if more:
            db.execute(more)

    source = first.sql('duckdb')
    call = 'SELECT row_at, p.leaf FROM t, LATERAL (SELECT * FROM model_row({})) AS p'
    wrong = 0
    for c in all:
        for default in (False, True):
            db = duckdb.connect()
            if default and c and c != 'binary':
                db.execute(f"SET default_collation = '{c}'")
            table(db, f'COLLATE "{c}"' if c and not default else '')
            db.execute(source)
            for zone in zones if c == '' else zones[1:2]:
                db.execute(f"SET timezone = '{zone}'")
                for query in ['SELECT row_at, leaf FROM model'] + [call.format(', '.join(f't."{f}"' for f in first.features))] * (c in plain):
                    n = first.differing(db.execute(query).fetchall())
                    if n:
                        print(f'duckdb, collation {c!r}, default {default}, {zone}: {n} rows differ: {query[:40]}')
                    wrong += n > 0
    fine &= report(f'duckdb, {len(all)} collations', wrong, 2 * len(all))
    db = duckdb.connect()
    table(db)
    db.execute(source)
    db.execute('ALTER TABLE t ADD COLUMN note varchar')
    db.execute(second.sql('duckdb'))
    fine &= report('duckdb, second deployment', second.differing(db.execute('SELECT row_at, leaf FROM model').fetchall()), len(second.leaf))
    got = db.execute(call.format(', '.join(f't."{f}"' for f in second.features))).fetchall()
    return fine & report('duckdb, second deployment, function', second.differing(got), len(second.leaf))


def lite(first, second, data, every):
    fine = True
    day = lambda d: (d - datetime.date(1970, 1, 1)).days
    micros = lambda t: ((t.hour * 60 + t.minute) * 60 + t.second) * 1000000 + t.microsecond
    at = lambda t: (t.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    values = [(r['row_at'], at(r['at']), at(r['seen']), day(r['day']), micros(r['clock']), r['city'], r['amount']) for r in data.to_pylist()]

    def open(collate, kind, texts):
        db = sqlite3.connect(':memory:')
        db.create_collation('equal', lambda a, b: 0)
        if collate == 'icu':
            db.create_collation('icu', lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))
        db.execute(f'CREATE TABLE t (row_at INTEGER, at {kind}, seen {kind}, day {kind}, clock {kind}, city TEXT {collate and "COLLATE " + collate}, '
                   f'amount {kind})')
        spell = lambda v: ('' if v is None else 'abc' if v != v else repr(v)) if texts else v
        db.executemany('INSERT INTO t VALUES (?,?,?,?,?,?,?)', [(v[0], *map(spell, v[1:5]), v[5], spell(v[6])) for v in values])
        return db

    for collate in ['', 'BINARY', 'NOCASE', 'RTRIM', 'equal', 'icu']:
        for kind, texts in [('REAL', False), ('NUMERIC', True), ('TEXT', True), ('', False), ('', True), ('BLOB', True)]:
            db = open(collate, kind, texts)
            db.executescript(first.sql('sqlite'))
            name = f'sqlite, collation {collate or "none"}, columns {kind or "without a type"}{", of texts" * texts}'
            fine &= report(name, first.differing(db.execute('SELECT row_at, leaf FROM model')), len(first.leaf))
    db.execute('ALTER TABLE t ADD COLUMN note TEXT')
    db.executescript(second.sql('sqlite'))
    return fine & report('sqlite, second deployment', second.differing(db.execute('SELECT row_at, leaf FROM model')), len(second.leaf))


def judge(name, binary, folder, rows_of, every):
    data = rows(rows_of, 7)
    file = os.path.join(folder, 'rows.parquet')
    pq.write_table(data, file)
    first = Deployed(binary, folder, 'first', file, 'row_at', 'leaf')
    second = Deployed(binary, folder, 'second', file, 'row_at,amount', 'leaf,cost')
    fine = True
    for check in [postgresql, duck, lite]:
        fine &= check(first, second, data, every)
    return fine


judging.main(__doc__, ['made'], judge, rows_of=600, every=20)
