#!/usr/bin/env python3
"""Opens reports in Chromium, and checks their scripts.

    bench/browser.py [--sets NAME,..] [--espalier BIN] [--keep FOLDER]

The script trains on each of these sets of bench/data (iris, bank-marketing, covertype and
credit-g with --preset accurate, if none is named), on made-up rows that give a tree of 35,000
nodes, and on rows whose columns, values and classes have hostile names. It scores rows by predict, 200 of each set. Then it checks the types of the
pages' scripts with tsc, runs their tests by node --test, and opens the reports by the tests in the
folder browser: no error, no request, small and soon there; tree, slider, questions and paths
work; axe-core finds no serious fault. --keep names a folder that keeps runs, pages and pictures
of them. It needs Python, node, npm and Chromium, and Go unless --espalier names a binary; it
installs by pip what is missing of pyarrow, and by npm what package-lock.json names.
"""

import argparse, glob, json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('browser')

import pyarrow as pa, pyarrow.parquet as pq

import datasets

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, '..')
options = {
    'credit-g': ['--preset', 'accurate'],  # leaf models and boosters
    'made-up': '--select first --theta 0.00003 --bins 512 --prune none --folds 0 --certificate none'.split(),  # 35,000 nodes
}
rows = 200

hostile = [
    "<script>hit=1</script>",
    "</script><script>hit=2</script>",
    "</title></text></svg></style><img src=x onerror=hit=3>",
    '"><svg onload="hit=4">',
    "'quoted' \"twice\" \\back\\ & &lt; {{.Title}}",
    "two\nlines\r\n\ttab",
    "NUL \x00 bell \a escape \x1b[31m",
    "bidi \u202e\u2066\u200f text",
    "ten kilobytes " * 750,
    "]]> <!-- --> ?>",
]


def run(*command, **more):
    """Runs a command, and shows what it prints if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(' '.join(command) + ':\n' + done.stdout[-6000:])
    return done.stdout


def hostile_rows(file):
    """Writes rows whose columns, values and classes have hostile names."""
    n = 60 * len(hostile)
    columns = {'class': [hostile[i % len(hostile)] for i in range(n)]}
    for k, name in enumerate(hostile):
        if k % 2:
            columns[name] = [float((i * 7 + k) % 50 + (30 if i % len(hostile) == k else 0)) for i in range(n)]
        else:
            columns[name] = [hostile[(i + (i // 60) * k) % len(hostile)] if i % 3 else hostile[k] for i in range(n)]
    pq.write_table(pa.table(columns), file)


def spelled(value):
    """Spells a value as the page has it: numbers as they are, texts as their feature lists them."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def score(espalier, model, file, work, out):
    """Scores the first rows of a file, and writes their values and predictions."""
    table = pq.read_table(file).slice(0, 20 * rows)
    step = max(1, len(table) // rows)
    few = table.take(list(range(0, len(table), step))[:rows])
    cut = os.path.join(work, out + '.parquet')
    pq.write_table(few, cut)
    run(espalier, 'predict', '--model', model, '--input', cut, '--output', os.path.join(work, out + '-scored'), '--overwrite',
        '--progress', 'none')
    scored = pq.read_table(os.path.join(work, out + '-scored', out + '.parquet')).to_pylist()
    with open(os.path.join(model, 'tree.json')) as f:
        tree = json.load(f)
    classes = tree['label']['classes']
    names = [f['name'] for f in tree['features']]
    document = {'file': cut, 'features': names, 'rows': [{
        'values': [spelled(row[name]) for name in names], 'leaf': p['leaf'], 'class': classes.index(p['prediction']),
        'probabilities': [p['probability_' + c] for c in classes], 'tests': p['tests'],
    } for row, p in zip(few.to_pylist(), scored)]}
    with open(os.path.join(work, out + '.json'), 'w') as f:
        json.dump(document, f)


def browser():
    """Returns the path of Chromium."""
    for name in (os.environ.get('CHROMIUM'), 'chromium', 'chromium-browser', 'google-chrome'):
        if name and shutil.which(name):
            return shutil.which(name)
    sys.exit('no Chromium: install it, or name it by CHROMIUM')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('--sets', default='iris,bank-marketing,covertype,credit-g')
    arguments.add_argument('--espalier')
    arguments.add_argument('--keep')
    a = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = os.path.abspath(a.keep or scratch)
        os.makedirs(work, exist_ok=True)
        tests = os.path.join(scratch, 'tests')
        shutil.copytree(os.path.join(here, 'browser'), tests)
        run('npm', 'ci', '--no-fund', '--no-audit', cwd=tests)
        pages = os.path.join(root, 'io', 'report')
        run(os.path.join(tests, 'node_modules', '.bin', 'tsc'), '-p', os.path.join(here, 'browser'))
        run('node', '--test', os.path.join(pages, 'score.test.mjs'))
        print('types and tests of the scripts: ok')
        espalier = os.path.abspath(a.espalier or os.path.join(work, 'espalier'))
        if not a.espalier:
            run('go', 'build', '-o', espalier, './cmd/espalier', cwd=root)
        sets = [s for s in a.sets.split(',') if datasets.files(s)]
        if sets != a.sets.split(','):
            print('skipped, as bench/data has no rows of them:', *sorted(set(a.sets.split(',')) - set(sets)))
        hostile_rows(os.path.join(work, 'hostile-rows.parquet'))
        run('go', 'run', './bench/synth', '--rows', '120000', '--numeric', '12', '--categorical', '0', '--noise', '0.7', '--output',
            os.path.join(work, 'made-up-rows'), cwd=root)
        for name in [*sets, 'made-up', 'hostile']:
            files = datasets.files(name)
            files = files or sorted(glob.glob(os.path.join(work, name + '-rows', '*.parquet')))
            files = files or [os.path.join(work, 'hostile-rows.parquet')]
            model = os.path.join(work, name)
            run(espalier, 'train', '--input', ','.join(files), '--label', 'class', '--output', model, '--overwrite',
                '--progress', 'none', *options.get(name, []))
            score(espalier, model, files[0], work, name)
        print(run('node', '--test', '--test-reporter', 'spec', os.path.join(tests, 'reports.test.mjs'),
                  env={**os.environ, 'REPORT_PROGRAM': espalier, 'REPORT_RUNS': work, 'REPORT_SETS': ','.join(sets),
                       'CHROMIUM': browser()}))


main()
