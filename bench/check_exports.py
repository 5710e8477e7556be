#!/usr/bin/env python3
"""Runs exported trees by their own languages on all rows of data sets.

    bench/check_exports.py [--sets iris,credit-g] [--formats c,sql] [--every N] [--espalier BINARY]

For each data set of bench/data five trees are trained: with the defaults, with prices in groups and
free repeats, with tests for sets of values, with texts in an order, and with --preset accurate, whose leaves have models. Each is exported in
each format. `espalier export --verify` compiles and runs the file, and compares class, leaf, tests,
cost and probabilities with the tree on all rows and on golden rows. SQL is run by its databases; by
Spark if ESPALIER_SPARK names a folder of its jars. With --every each tree is exported in each N-th format, and
in others than the tree before: of N sets one has each pair of tree and format. It fails if anything differs.
It needs Python with onnxruntime, the languages, PostgreSQL, the jars of ESPALIER_PMML (see
CONTRIBUTING.md), and Go unless --espalier names a binary.
"""

import csv, itertools, json, os, subprocess, sys

sys.dont_write_bytecode = True

import datasets
import judging

dialects = ['postgresql', 'sqlite', 'duckdb', 'bigquery'] + (['spark'] if 'ESPALIER_SPARK' in os.environ else [])
forms = ['c', 'java', 'python', 'javascript', 'pmml', 'onnx', 'json', 'sql']
turns = itertools.count()  # of the sets


def categorical(name):
    """Returns the flags of train for a data set's categorical columns."""
    columns = datasets.manifest()[name]['categorical']
    return ['--categorical', columns] if columns else []


def prices(run, file):
    """Writes prices from 1 to 5, two of three features in a group, for the features of a run."""
    with open(os.path.join(run, 'schema.json')) as f:
        columns = json.load(f)['columns']
    names = [c['name'] for c in columns if c['role'] == 'feature' and ('cuts' in c or 'values' in c)]
    with open(file, 'w', newline='') as f:
        w = csv.writer(f)
        w.writerow(['feature', 'cost', 'group', 'group_cost'])
        for i, name in enumerate(names):
            w.writerow([name, 1 + i % 5, ['a', 'b', ''][i % 3], [2, 3, ''][i % 3]])


def ordered(run):
    """Returns the flags of train that declare an order of the values of each column of texts."""
    with open(os.path.join(run, 'schema.json')) as f:
        columns = json.load(f)['columns']
    return [f'--ordered={c["name"]}={",".join(reversed(c["values"]))}' for c in columns
            if len(c.get('values', [])) > 1 and c['physical'] == 'BYTE_ARRAY']


def variants(formats):
    """Returns the flags of export for each format, and for each dialect of SQL."""
    return [[f, *more] for f in formats for more in ([['--dialect', d] for d in dialects] if f == 'sql' else [[]])]


def judge(name, binary, folder, formats, every):
    data, fine, turn = os.path.join(datasets.folder, name), True, next(turns)
    flags = categorical(name)
    costs = os.path.join(folder, 'costs.csv')
    trees = [('plain', []), ('prices', ['--costs', costs, '--repeat_cost', 'free']),
             ('sets', ['--tests', 'set,all']), ('ordered', []), ('models', ['--preset', 'accurate'])]
    for at, (kind, more) in enumerate(trees, turn):
        run = os.path.join(folder, kind)
        if kind == 'ordered':
            more = ordered(os.path.join(folder, 'plain'))
        subprocess.run([binary, 'train', '--input', data, '--label', 'class', '--output', run, '--progress', 'none',
                        '--certificate', 'none', *flags, *more], check=True, stdout=subprocess.DEVNULL)
        if kind == 'plain':
            prices(run, costs)
        for form in variants(formats)[at % every::every]:
            done = subprocess.run([binary, 'export', run, '--format', *form, '--verify', os.path.join(data, '*.parquet')],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            fine &= done.returncode == 0
            last = done.stderr.strip().replace(data + '/*.parquet', 'the data')
            print(f'{name}, {kind}, {form[-1]}: {"ok" if done.returncode == 0 else "FAIL"}: {last}', flush=True)
    return fine


judging.main(__doc__, ['iris', 'credit-g', 'mushroom'], judge, formats=forms, every=1)
