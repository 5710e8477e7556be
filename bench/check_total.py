#!/usr/bin/env python3
"""Judges --select total, and the error costs of frontier.json, by numpy.

    bench/check_total.py [--sets NAME,..] [--espalier BIN]

The script makes up costs of tests and of errors for each of these sets of bench/data (credit-g,
phoneme and spambase, if none is named), and trains with --select total, with a column that names the
part of each row. It sends the validation and test rows through the trees of frontier.json: the error
cost and the total of each tree must be those of frontier.json to 1e-9.

The choice is compared with one by brute force. The script takes the two whole trees of a grid from
runs that neither prune nor choose, prunes them weakest link first in leaves and in cost, one subtree
after the other, scores each pruned tree on the validation rows, averages over prunings of nearly the
same size as docs/budgets.md says, and takes the least total: without a limit, within a budget, and
within a number of leaves. The tree must be that of Espalier, with the same estimate to 1e-9, or a tree grown by the total that costs no more. It needs
Python, and Go unless --espalier names a binary; it installs by pip what is missing of numpy and
pyarrow.
"""

import json, os, subprocess, sys

sys.dont_write_bytecode = True
from needs import need

need('check_total')

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq

import datasets
import judging
from routing import Tree

same = 1e-9  # greatest difference
thetas = ['0.005', '0.001']


def write(name, folder):
    """Writes the rows with their parts, and made-up costs. Returns the rows."""
    rng = np.random.default_rng(3)
    table = pa.concat_tables(pq.read_table(f) for f in datasets.files(name))
    features = [c for c in table.column_names if c != 'class']
    part = np.array(['train', 'validation', 'test'])[rng.choice(3, len(table), p=[.6, .2, .2])]
    table = table.append_column('part_of_row', pa.array(part))
    pq.write_table(table, os.path.join(folder, 'rows.parquet'))
    with open(os.path.join(folder, 'costs.csv'), 'w') as f:
        f.write('feature,cost\n' + ''.join(f'{c},{rng.uniform(.005, .05):.4f}\n' for c in features))
    classes = sorted({str(v) for v in table['class'].to_pylist()})
    with open(os.path.join(folder, 'errors.csv'), 'w') as f:
        f.write('actual,predicted,cost\n')
        for a in classes:
            f.write(''.join(f'{a},{p},{rng.uniform(1, 8):.3f}\n' for p in classes if p != a))
    return {p: table.filter(pa.array(part == p)) for p in ('validation', 'test')}


def answers(document, rows):
    """Returns a tree.json as a Tree with the answers of some rows."""
    columns = {f['name']: rows[f['name']].to_pylist() for f in document['features']}
    return Tree(document, columns, len(rows))


def actual(document, rows):
    classes = document['label']['classes']
    return np.array([classes.index(str(v)) for v in rows['class'].to_pylist()])


def decided(document):
    """Returns by node the class of the least expected error cost, and the error costs."""
    costs = np.array(document['label']['error_costs'])
    expected = np.array([n['probabilities'] for n in document['nodes']]) @ costs
    return expected.argmin(axis=1), costs


def paid(document):
    """Returns by node the cost of the tests on the way there."""
    cost = np.zeros(len(document['nodes']))
    for n in document['nodes']:
        for b in n.get('branches', []):
            cost[b['child']] = cost[n['id']] + n['test'].get('billed', n['test']['cost'])
    return cost


def scores(document, rows):
    """Returns the error cost and the total cost of a row."""
    leaf = answers(document, rows).leaves()
    predicted, costs = decided(document)
    errors = costs[actual(document, rows), predicted[leaf]].mean()
    return errors, errors + paid(document)[leaf].mean()


def entropy(weights):
    w = np.array([x for x in weights if x > 0], float)
    return float(-(w * np.log2(w / w.sum())).sum())


def prunings(document, currency):
    """Prunes a tree weakest link first. Returns the sets of inner nodes that are left, the whole
    tree first."""
    nodes, weight = document['nodes'], document['nodes'][0]['weight']
    risk = np.array([entropy(n['raw_class_weights']) / weight for n in nodes])
    own = np.array([n['test']['cost'] * n['weight'] / weight if 'test' in n else 0 for n in nodes])
    left = {n['id'] for n in nodes if 'test' in n}
    found = [set(left)]
    while left:
        gain, size = np.zeros(len(nodes)), np.zeros(len(nodes))
        for n in reversed(nodes):
            v = n['id']
            if v in left:
                below = [b['child'] for b in n['branches']]
                gain[v] = risk[v] - sum(risk[c] - gain[c] for c in below)
                size[v] = sum(size[c] for c in below) + (own[v] if currency == 'cost' else len(below) - 1)
        link = {v: 0 if gain[v] <= 1e-12 * nodes[v]['weight'] / weight else gain[v] / size[v] for v in left}
        least = min(link.values())
        cut = [v for v in left if link[v] <= least * (1 + 1e-9)]
        while cut:
            v = cut.pop()
            left.discard(v)
            cut += [b['child'] for b in nodes[v].get('branches', []) if b['child'] in left]
        found.append(set(left))
    return found


def points(document, rows, currency):
    """Returns the prunings of a tree: leaves, expected cost, error cost and total."""
    nodes = document['nodes']
    tree, y, way = answers(document, rows), actual(document, rows), paid(document)
    predicted, costs = decided(document)
    reached = np.zeros((len(nodes), len(rows)), bool)  # by node: the rows that come there
    reached[0] = True
    for n in nodes:
        for i, b in enumerate(n.get('branches', [])):
            reached[b['child']] = reached[n['id']] & (tree.answers[n['id']] == i)
    count = reached.sum(axis=1)
    wrong = np.array([costs[y[reached[v]], predicted[v]].sum() for v in range(len(nodes))])
    share = np.array([n['weight'] for n in nodes]) / nodes[0]['weight']
    parent = {b['child']: n['id'] for n in nodes for b in n.get('branches', [])}
    list_ = []
    for inner in prunings(document, currency):
        leaves = [v for v in range(len(nodes)) if v not in inner and (v == 0 or parent[v] in inner)]
        expected = sum(nodes[v]['test']['cost'] * share[v] for v in inner)
        errors = sum(wrong[v] for v in leaves) / len(rows)
        list_.append((len(leaves), expected, errors, errors + sum(way[v] * count[v] for v in leaves) / len(rows)))
    return list_


def averaged(sequence):
    """Averages errors and totals over prunings of nearly the same size."""
    result = []
    for k, p in enumerate(sequence):
        side = 0
        while k - side > 0 and k + side + 1 < len(sequence):
            a, b = sequence[k - side - 1], sequence[k + side + 1]
            if not (a[0] <= 1.2 * p[0] and a[1] <= 1.05 * p[1] and p[0] <= 1.2 * b[0] and p[1] <= 1.05 * b[1]):
                break
            side += 1
        some = np.array(sequence[k - side:k + side + 1])
        result.append((p[0], p[1], *some[:, 2:].mean(axis=0)))
    return result


def judge(name, binary, folder):
    rows, found = write(name, folder), []

    def train(out, *options):
        out = os.path.join(folder, out)
        subprocess.run([binary, 'train', '--input', os.path.join(folder, 'rows.parquet'), '--label', 'class', '--split',
                        'part_of_row', '--costs', os.path.join(folder, 'costs.csv'), '--error_costs',
                        os.path.join(folder, 'errors.csv'), '--folds', '0', '--report', 'none', '--certificate', 'none',
                        '--algorithm', 'c45', '--tests', 'threshold', '--repeat_cost', 'full', '--output', out, '--progress', 'none', *options],
                       check=True, stdout=subprocess.DEVNULL)
        return lambda f: json.load(open(os.path.join(out, f)))

    def near(got, want, what):
        if abs(got - want) > same:
            found.append(f'{what}: {got}, by numpy {want}')

    competing = []
    for theta in thetas:
        whole = train('whole' + theta, '--theta', theta, '--select', 'first', '--prune', 'none')('tree.json')
        for currency in ('leaves', 'cost'):
            competing += averaged(points(whole, rows['validation'], currency))
    chosen = []
    for limits, within in (
        ([], lambda p: True),
        (['--max_leaves', '4'], lambda p: p[0] <= 4),
        (['--max_expected_cost', '0.03'], lambda p: p[1] <= .03),
    ):
        run = train(f'total{len(chosen)}', '--theta', ','.join(thetas), '--prune', 'leaves,cost', '--select', 'total', *limits)
        frontier = run('frontier.json')
        want = min((p for p in competing if within(p)), key=lambda p: (round(p[3], 10), round(p[1], 10), p[0]))
        got = next(p for p in frontier['points'] if p.get('selected'))
        what = f'{name} {" ".join(limits)}'
        policy = got['algorithm'].get('objective')  # a tree that the brute force does not have
        if policy and got['expected_total_cost'] > want[3] + 1e-9:
            found.append(f'{what}: a total of {got["expected_total_cost"]}, by numpy {want[3]}')
        if not policy:
            near(got['expected_total_cost'], want[3], f'{what}: least total')
            near(got['expected_error_cost'], want[2], f'{what}: its errors')
            near(got['expected_cost'], want[1], f'{what}: its tests')
        if not policy and got['leaves'] != want[0] or not got.get('least_total') or not any(p['leaves'] == 1 for p in frontier['points']):
            found.append(f'{what}: {got["leaves"]} leaves, by numpy {want[0]}; marked {got.get("least_total")}')
        chosen.append(got['leaves'])
        for p in frontier['points']:
            for part in rows:
                errors, total = scores(run(p['tree']), rows[part])
                near(p[part]['expected_error_cost'], errors, f'{what} {p["tree"]} {part}: errors')
                near(p[part]['expected_total_cost'], total, f'{what} {p["tree"]} {part}: total')
    for text in found:
        print('DIFFERS', text)
    print(f'{name}: {"FAIL" if found else "ok"}: {len(frontier["points"])} trees, the least of {len(competing)} totals '
          f'has {chosen[0]} leaves ({chosen[1]} of at most 4, {chosen[2]} within the budget)')
    return not found


judging.main(__doc__, ['credit-g', 'phoneme', 'spambase'], judge)
