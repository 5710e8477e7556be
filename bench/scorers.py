#!/usr/bin/env python3
"""Times the Go scorer against others, on the same tree and the same rows.

    bench/scorers.py [--sets NAME,..] [--leaves 16,64,255] [--runs N] [--rows N] [--csv FILE]

For each data set (its number columns) one LightGBM tree of two classes is trained for
each number of leaves and written as tree.json, with the same splits. Then each
scorer passes over the same rows, in turn, RUNS times:

- espalier row (Scorer.Predict), espalier matrix (Scorer.PredictMatrix), espalier batch
  (Scorer.Leaves), one goroutine;
- if-else: Go source that m2cgen makes of the tree, compiled: as of a decision tree
  classifier, which returns probabilities like ours, and as of a regression tree, which
  returns a single number;
- leaves (github.com/dmitryikh/leaves), row by row and by PredictDense, one thread;
  left out with a message if it cannot be fetched;
- LightGBM's own predict in Python, one thread, C-ordered float64 rows.

Row by row, the first 512 rows repeat until ROWS are scored. So the rows are in a near
cache, like the row of a service. Their order is random, since in a fixed order the
processor would learn the path of each row. Each pass is made once before it is timed.
The sums of the predictions must agree. Prints the median time of each scorer in ns a
row, and the medians over the runs of the ratios to ours: row by row to both of ours and
to our batch, batches to our batch. Above 1 we are faster. Needs the data sets, Go and Python; installs
by pip what is missing of numpy, pyarrow, lightgbm and m2cgen.
"""

import argparse, csv, json, math, os, statistics, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from needs import need

need('scorers')

import lightgbm
import numpy as np
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from m2cgen import ast
from m2cgen.interpreters import GoInterpreter

import datasets

at_hand = 512  # number of rows that repeat, row by row

here = os.path.dirname(os.path.abspath(__file__))
program = os.path.join(here, 'scorers')


def read(name):
    """The number columns, and 1 for the most frequent class."""
    table = pa.concat_tables(
        [pq.read_table(f) for f in datasets.files(name)]
    )
    label = table['class'].to_pylist()
    most = max(set(label), key=label.count)
    columns = [
        c
        for c in table.column_names
        if c != 'class'
        and (pa.types.is_integer(table.schema.field(c).type) or pa.types.is_floating(table.schema.field(c).type))
    ]
    x = np.column_stack([pc.fill_null(table[c].cast(pa.float64()), 0).to_numpy() for c in columns])
    return np.ascontiguousarray(x), np.array([float(v == most) for v in label])


def as_tree(root_node, features):
    """A tree.json with the splits of a LightGBM tree, and the leaves' values by node."""
    queue, nodes, values = [root_node], [], []
    cuts = [set() for _ in range(features)]
    while len(nodes) < len(queue):
        node = queue[len(nodes)]
        rows = node.get('internal_count', node.get('leaf_count', 0))
        p = 1 / (1 + math.exp(-node.get('internal_value', node.get('leaf_value'))))
        weights = [rows - round(p * rows), round(p * rows)]
        out = {
            'id': len(nodes),
            'rows': rows,
            'objects': rows,
            'weight': rows,
            'class_weights': weights,
            'raw_class_weights': weights,
            'class': '1' if p > 0.5 else '0',
            'probabilities': [1 - p, p],
        }
        if 'split_feature' in node:
            f, cut = node['split_feature'], float(np.nextafter(node['threshold'], np.inf))  # left is <= threshold
            cuts[f].add(cut)
            out['test'] = {'feature': f'x{f}', 'kind': 'threshold', 'cost': 1, 'score': {}}
            child = len(queue)
            out['branches'] = [
                {'when': {'ge': cut}, 'child': child},
                {'when': {'lt': cut}, 'child': child + 1, 'missing': True},
            ]
            queue += [node['right_child'], node['left_child']]
        nodes.append(out)
        values.append(node.get('leaf_value', 0))
    listed = [
        {'name': f'x{f}', 'type': 'numeric', 'cuts': sorted(c), 'missing': 0, 'cost': 1} for f, c in enumerate(cuts)
    ]
    return {
        'format': 'espalier/tree',
        'version': 1,
        'label': {'column': 'class', 'classes': ['0', '1']},
        'features': listed,
        'algorithm': {},
        'training': {},
        'complexity': {},
        'nodes': nodes,
    }, values


def build(folder, sources):
    """The Go program with generated sources laid over its folder; returns its file and whether leaves is in it."""
    overlay = {}
    for i, (name, code, result) in enumerate(sources):
        file = os.path.join(folder, f'ifelse{i}.go')
        overlay[os.path.join(program, f'ifelse{i}.go')] = file
        with open(file, 'w') as f:
            f.write(f'''{code}
func init() {{
	generated["{name}"] = func(rows []float64, order []int32, features int) float64 {{
		sum := 0.
		for _, r := range order {{
			row := rows[int(r)*features:][:features]
			sum += {result}
		}}
		return sum
	}}
}}
''')
    laid, binary = os.path.join(folder, 'overlay.json'), os.path.join(folder, 'scorers')
    with open(laid, 'w') as f:
        json.dump({'Replace': overlay}, f)

    def go_build(*flags):
        return subprocess.run(
            ['go', 'build', '-overlay', laid, '-o', binary, *flags, '.'], cwd=program, capture_output=True, text=True
        )

    if go_build().returncode == 0:
        return binary, True
    done = go_build('-tags', 'noleaves')
    if done.returncode:
        sys.exit(done.stderr)
    return binary, False


class Program:
    """The Go program with a tree and rows."""

    def __init__(self, binary, folder):
        self.process = subprocess.Popen(
            [binary, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {'GOMAXPROCS': '1'},
        )
        self.names = json.loads(self.process.stdout.readline())

    def run(self, name):
        self.process.stdin.write(name + '\n')
        self.process.stdin.flush()
        return [float(x) for x in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(x, order, booster, binary, folder, runs):
    """ns a row of each scorer, by run."""
    program = Program(binary, folder)
    timed = {name: [] for name in [*program.names, 'lightgbm batch']}
    for run in range(runs + 1):
        sums = {}
        for name in program.names:
            ns, sums[name] = program.run(name)
            timed[name].append(ns)
        booster.predict(x, raw_score=True, num_threads=1)
        start = time.perf_counter()
        said = booster.predict(x, raw_score=True, num_threads=1)
        timed['lightgbm batch'].append((time.perf_counter() - start) / len(x) * 1e9)
        sums['lightgbm batch'] = said.sum()
        for name, got in sums.items():
            of = 1 / (1 + np.exp(-said)) if 'probabilities' in name else said
            want = (of if 'batch' in name else of[order]).sum()
            if abs(got - want) > 1e-6 * max(1, abs(want)):
                sys.exit(f'{name} disagrees: {got}, LightGBM {want}')
    program.close()
    return {name: t[1:] for name, t in timed.items()}  # without the first run, a warm-up


def ratio(theirs, ours):
    return statistics.median(a / b for a, b in zip(theirs, ours))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=['electricity', 'spambase', 'covertype'])
    ap.add_argument('--leaves', type=lambda s: [int(n) for n in s.split(',')], default=[16, 64, 255])
    ap.add_argument('--runs', type=int, default=21)
    ap.add_argument('--rows', type=int, default=65536)
    ap.add_argument('--csv')
    options = ap.parse_args()
    rows = []
    for name in options.sets:
        x, y = read(name)
        drawn = np.ascontiguousarray(x[np.random.default_rng(1).integers(len(x), size=options.rows)])
        for leaves in options.leaves:
            rows.append(one(name, x, y, drawn, leaves, options.runs))
            print(json.dumps(rows[-1]), flush=True)
    table(rows)
    if options.csv:
        with open(options.csv, 'w', newline='') as f:
            w = csv.DictWriter(f, rows[0])
            w.writeheader()
            w.writerows(rows)


def one(name, x, y, drawn, leaves, runs):
    params = dict(
        objective='binary',
        num_leaves=leaves,
        learning_rate=1.0,
        min_data_in_leaf=5,
        max_bin=255,
        boost_from_average=False,
        verbose=-1,
        num_threads=2,
        seed=1,
    )
    booster = lightgbm.train(params, lightgbm.Dataset(x, y), 1)
    with tempfile.TemporaryDirectory() as folder:
        root = booster.dump_model()['tree_info'][0]['tree_structure']
        tree, values = as_tree(root, x.shape[1])
        for file, what in ('tree.json', tree), ('values.json', values):
            with open(os.path.join(folder, file), 'w') as f:
                json.dump(what, f)
        drawn.tofile(os.path.join(folder, 'rows.bin'))
        order = np.random.default_rng(2).integers(at_hand, size=len(drawn), dtype=np.int32)
        order.tofile(os.path.join(folder, 'order.bin'))
        with open(os.path.join(folder, 'lightgbm.txt'), 'w') as f:
            f.write(
                booster.model_to_string().replace('version=v4', 'version=v3')
            )  # which leaves reads; the same for trees like these
        binary, with_leaves = build(
            folder,
            [
                ('if-else number row', generated(root, 'number', ast.NumVal), 'number(row)'),
                ('if-else probabilities row', generated(root, 'probabilities', probabilities), 'probabilities(row)[1]'),
            ],
        )
        if not with_leaves:
            print('leaves is left out: it cannot be fetched', file=sys.stderr)
        timed = compare(drawn, order, booster, binary, folder, runs)
    row = {'data set': name, 'leaves': len([v for v in tree['nodes'] if 'test' not in v])}
    row |= {f'{k} ns': round(statistics.median(v), 1) for k, v in timed.items()}
    for mine in 'matrix', 'row, values', 'batch':
        row |= {
            f'{k} / {mine.split()[-1]}': round(ratio(v, timed[f'espalier {mine}']), 2)
            for k, v in timed.items()
            if 'espalier' not in k and (mine == 'batch' or k.endswith(' row'))
        }
    return row


def probabilities(value):
    p = 1 / (1 + math.exp(-value))
    return ast.VectorVal([ast.NumVal(1 - p), ast.NumVal(p)])


def tested(node):
    """The features that a tree tests."""
    if 'leaf_value' in node:
        return set()
    return {node['split_feature']} | tested(node['left_child']) | tested(node['right_child'])


def generated(root, name, leaf):
    """Go source of a tree by m2cgen, for rows of the features alone that it tests."""
    inputs = {f: i for i, f in enumerate(sorted(tested(root)))}

    def expression(node):
        if 'leaf_value' in node:
            return leaf(node['leaf_value'])
        asks = ast.CompExpr(
            ast.FeatureRef(inputs[node['split_feature']]), ast.NumVal(node['threshold']), ast.CompOpType.LTE
        )
        return ast.IfExpr(asks, expression(node['left_child']), expression(node['right_child']))

    return 'package main\n\n' + GoInterpreter(function_name=name).interpret(expression(root))


def table(rows):
    keys = list(dict.fromkeys(k for row in rows for k in row))
    print('| ' + ' | '.join(keys) + ' |\n|' + ' --- |' * len(keys))
    for row in rows:
        print('| ' + ' | '.join(str(row.get(k, '')) for k in keys) + ' |')


if __name__ == '__main__':
    main()
