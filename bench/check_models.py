#!/usr/bin/env python3
"""Judges predictions of a tree.json, with or without leaf models, by numpy alone.

    bench/check_models.py TREE.json ROWS.. [--predictions FOLDER] [--metrics METRICS.json]
                          [--label COLUMN] [--split COLUMN] [--weight COLUMN]
    bench/check_models.py --sets NAME,.. [--espalier BIN]

ROWS are Parquet files or folders of them. Each row is sent through the tree by the
conditions in tree.json. At a leaf with a model, its values give the row's score, by
numpy's interpolation between knots, plus what the trees of its booster add. The score
gives the probabilities.

FOLDER is what `espalier predict` wrote for the same rows: leaf, tests and cost must
be equal, the probabilities equal to 1e-12, and the class the best to 1e-12.
METRICS.json has the part "test" (of predict and evaluate), or with --split the parts
that the column names: AUC, log loss, accuracy and the expected costs must be equal to
1e-9. Beyond 2^22 probabilities of distinct predictions Espalier counts rounded ones:
then AUC and log loss to 1e-4 for two classes, to 0.05 for more. Without --predictions,
areas are compared to 1e-6, because probabilities that are equal there may differ here
in the last bit.

With --sets the script grows a tree on each of these sets of bench/data ("all":
on each), gives its leaves random models (every second tree also boosters, every third
priors, every fourth error costs), has it predict rows, some with nulls, and judges the result. It fails if
anything differs. It needs Python, and with --sets Go; it installs by pip what is
missing of numpy and pyarrow.
"""

import argparse, glob, json, os, sys

sys.dont_write_bytecode = True
from needs import need

need('check_models')

import numpy as np
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

same = 1e-12  # greatest difference of probabilities
exact = 1 << 22  # numbers in Espalier's table of probabilities


class Judge:
    """Collects differences."""

    def __init__(self):
        self.found = []

    def expect(self, holds, text):
        if not holds:
            self.found.append(text)

    def near(self, got, want, tolerance, what):
        fine = got == want if got is None or want is None else abs(got - want) <= tolerance * max(1, abs(want))
        self.expect(fine, f'{what}: {got}, by numpy {want}')

    def finish(self, summary):
        for text in self.found[:20]:
            print('DIFFERS', text)
        print(f'{"FAIL" if self.found else "ok"}: {summary}, {len(self.found)} differences')
        return not self.found


def parquet_files(names):
    files = []
    for name in names:
        files += sorted(glob.glob(os.path.join(name, '*.parquet'))) if os.path.isdir(name) else [name]
    return files


def numbers_of(array):
    """A numeric column with NaN for missing values. Points in time are days or microseconds."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return numbers_of(array.cast(kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array([np.nan if x in (None, '') else float(x) for x in array.to_pylist()])
    if pa.types.is_date(kind):
        array = array.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp('us', kind.tz), safe=False).cast(pa.int64())
    elif pa.types.is_time(kind):
        array = array.cast(pa.time64('us')).cast(pa.int64())
    return np.array(pc.fill_null(array.cast(pa.float64()), np.nan), float)


def texts_of(array):
    """A column in the spelling of categories, None for missing values."""

    def spell(x):
        if isinstance(x, bool):
            return str(x).lower()
        if isinstance(x, float):
            return None if x != x else str(int(x)) if x.is_integer() else repr(x)
        return None if x is None else str(x)

    return np.array([spell(x) for x in array.to_pylist()], object)


class Tree:
    """A tree.json with the tests of each leaf's path."""

    def __init__(self, document, judge):
        self.judge, self.nodes, self.label = judge, document['nodes'], document['label']
        self.classes, self.version = self.label['classes'], document['version']
        self.features = {f['name']: f for f in document['features']}
        self.width = 1 if len(self.classes) == 2 else len(self.classes)
        self.factors = None
        if 'priors' in self.label:
            root = self.nodes[0]
            majority = root.get('majority_class_weights', root['class_weights'])
            share = np.array(majority if document['algorithm']['leaf_estimate'] == 'majority' else root['raw_class_weights'], float)
            share /= share.sum()
            self.factors = np.divide(self.label['priors'], share, out=np.zeros(len(share)), where=share > 0)
        self.boosters = document.get('boosters', [])
        models = sum('model' in n for n in self.nodes)
        version = 3 if self.boosters else 2 if models else 1
        judge.expect(document['format'] == 'espalier/tree' and self.version == version, f'format, or version {self.version}')
        self.check(0, [])
        used = [n['model']['booster'] for n in self.nodes if 'booster' in n.get('model', {})]
        judge.expect(list(dict.fromkeys(used)) == list(range(len(self.boosters))), 'the numbers of boosters')
        for number, booster in enumerate(self.boosters):
            for t in booster:
                self.check_splits(f'booster {number}', t)

    def check(self, number, path):
        """Checks the models below a node, given the features of its path."""
        todo = [(number, path)]
        while todo:
            number, path = todo.pop()
            node = self.nodes[number]
            todo += [(b['child'], path + [node['test']['feature']]) for b in node.get('branches', [])]
            if 'model' not in node:
                continue
            self.judge.expect('test' not in node, f'node {number}: a model beside a test')
            self.judge.expect(len(node['model']['intercept']) == self.width, f'node {number}: the intercept')
            names = [t['feature'] for t in node['model']['terms']]
            self.judge.expect(len(set(names)) == len(names), f'node {number}: a feature twice')
            for t in node['model']['terms']:
                shape = np.shape(t['values']) == (len(t['at']), self.width) and len(t['missing']) == self.width
                rising = len(t['at']) > 0 and np.isfinite(t['at']).all() and (np.diff(t['at']) > 0).all()
                known = t['feature'] in path and self.features[t['feature']]['type'] == 'numeric'
                self.judge.expect(shape and rising and known, f'node {number}: the term of {t["feature"]}')

            own = node['model'].get('booster')
            for t in self.boosters[own] if own is not None else []:
                self.judge.expect({s['feature'] for s in t} <= set(path), f'node {number}: a feature of the booster')

    def check_splits(self, what, splits):
        """Checks a tree of a booster."""
        later = [s[side] for s in splits for side in ('yes', 'no') if isinstance(s[side], int)]
        self.judge.expect(sorted(later) == list(range(1, len(splits))), f'{what}: its splits are no tree')
        for i, s in enumerate(splits):
            f = self.features[s['feature']]
            fine = s['ge'] in f['cuts'] if f['type'] == 'numeric' else s['is'] in f['values']
            for side in s['yes'], s['no']:
                fine &= side > i if isinstance(side, int) else len(side) == self.width
            self.judge.expect(fine and len({'ge', 'is'} & set(s)) == 1, f'{what}: split {i}')

    def boost(self, splits, ids):
        """What a tree of a booster adds to the scores of rows."""
        added = np.zeros((len(ids), self.width))
        groups = {0: np.arange(len(ids))}
        for i, s in enumerate(splits):
            here = groups.pop(i)
            v = self.columns[s['feature']][ids[here]]
            if 'ge' in s:
                missing, yes = np.isnan(v), v >= s['ge']
            else:
                missing, yes = np.array([x is None for x in v], bool), v == s['is']
            yes = np.where(missing, s.get('missing', False), yes).astype(bool)
            for side, part in (s['yes'], here[yes]), (s['no'], here[~yes]):
                if isinstance(side, int):
                    groups[side] = part
                else:
                    added[part] = side
        return added

    def route(self, rows):
        """Leaf, tests and billed cost of each row."""
        self.columns = {
            name: numbers_of(rows[name].combine_chunks()) if f['type'] == 'numeric' else texts_of(rows[name].combine_chunks())
            for name, f in self.features.items()
        }
        n = rows.num_rows
        leaf, tests, cost = np.zeros(n, int), np.zeros(n, int), np.zeros(n)
        groups = {0: np.arange(n)}
        for number, node in enumerate(self.nodes):
            ids = groups.pop(number, np.zeros(0, int))
            leaf[ids] = number
            if 'test' not in node:
                continue
            test = node['test']
            tests[ids] += 1
            cost[ids] += test.get('billed', test['cost'])
            for child, part in self.deal(node, ids):
                groups[child] = part
        return leaf, tests, cost

    def deal(self, node, ids):
        """Yields each child of an inner node with its rows."""
        feature = self.features[node['test']['feature']]
        v = self.columns[feature['name']][ids]
        numeric = feature['type'] == 'numeric'
        missing = np.isnan(v) if numeric else np.array([x is None for x in v], bool)
        other = np.zeros(len(ids), bool) if numeric else ~missing & ~np.isin(v.astype(str), feature['values'])
        left = np.ones(len(ids), bool)
        for b in node['branches']:
            when = b['when']
            yes = {k.removeprefix('not_'): x for k, x in when.items()}
            inside = np.ones(len(ids), bool)
            for key, x in yes.items():
                if key in ('ge', 'lt'):
                    inside &= v >= x if key == 'ge' else v < x
                else:
                    inside &= {'in': lambda: np.isin(v.astype(str), x), 'other': lambda: other, 'missing': lambda: missing}[key]()
            if next(iter(when)).startswith('not_'):
                inside = ~inside
            go = np.where(missing, bool(b.get('missing')), np.where(other, bool(b.get('other')), inside))
            self.judge.expect(not (go & ~left).any(), f'test on {feature["name"]}: two branches take a row')
            left &= ~go
            yield b['child'], ids[go]
        self.judge.expect(not left.any(), f'test on {feature["name"]}: no branch takes a row')

    def probabilities(self, leaf):
        """The class probabilities of the rows that route has sent to these leaves."""
        p = np.zeros((len(leaf), len(self.classes)))
        for number in np.unique(leaf):
            ids, node = np.flatnonzero(leaf == number), self.nodes[number]
            if 'model' not in node:
                p[ids] = node['probabilities']
                continue
            z = np.tile(np.array(node['model']['intercept'], float), (len(ids), 1))
            for t in node['model']['terms']:
                x, values = self.columns[t['feature']][ids], np.array(t['values'], float)
                for k in range(self.width):
                    z[:, k] += np.where(np.isnan(x), t['missing'][k], np.interp(x, t['at'], values[:, k]))
            for splits in self.boosters[node['model']['booster']] if 'booster' in node['model'] else []:
                z += self.boost(splits, ids)
            if len(self.classes) == 2:
                z = np.concatenate([np.zeros_like(z), z], 1)
            e = np.exp(z - z.max(1, keepdims=True))
            e /= e.sum(1, keepdims=True)
            if self.factors is not None:
                e *= self.factors
                e /= np.maximum(e.sum(1, keepdims=True), 1e-300)
            p[ids] = e
        return p

    def losses(self, p):
        """By row and class, how much worse the class is than the best one to predict."""
        if 'error_costs' in self.label:
            expected = p @ np.array(self.label['error_costs'], float)
            return (expected - expected.min(1, keepdims=True)) / np.maximum(1, expected.max(1, keepdims=True))
        return p.max(1, keepdims=True) - p


def area(score, own, rest):
    """The weighted area under the ROC curve, ties as one half."""
    if own.sum() == 0 or rest.sum() == 0:
        return None
    _, at = np.unique(score, return_inverse=True)
    a, b = np.bincount(at, own), np.bincount(at, rest)
    return float((a * (np.cumsum(b) - b / 2)).sum() / own.sum() / rest.sum())


def measured(tree, p, class_, truth, weight, cost, tests):
    """The metrics of some rows."""
    ranked = [1] if len(tree.classes) == 2 else range(len(tree.classes))  # of two classes the second one ranks the rows
    areas = [area(p[:, k], weight * (truth == k), weight * (truth != k)) for k in ranked]
    areas = [x for x in areas if x is not None]
    total = weight.sum()
    own = np.clip(p[np.arange(len(p)), truth], 1e-15, 1 - 1e-15)
    m = {
        'auc_ovr_macro': sum(areas) / len(areas) if areas else None,
        'log_loss': float((weight * -np.log(own)).sum() / total),
        'accuracy': float((weight * (class_ == truth)).sum() / total),
        'expected_cost': float((weight * cost).sum() / total),
        'expected_tests': float((weight * tests).sum() / total),
    }
    if 'error_costs' in tree.label:
        m['expected_error_cost'] = float((weight * np.array(tree.label['error_costs'])[truth, class_]).sum() / total)
    return m


def judge_tree(path, data, predictions=None, metrics=None, label=None, split=None, weight=None):
    """Judges a tree on rows, and returns whether nothing differs."""
    judge, files = Judge(), parquet_files(data)
    with open(path) as f:
        tree = Tree(json.load(f), judge)
    rows = pa.concat_tables([pq.read_table(f) for f in files], promote_options='permissive')
    leaf, tests, cost = tree.route(rows)
    p = tree.probabilities(leaf)
    class_ = np.argmax(tree.losses(p) <= same, 1)
    seen = p
    if predictions:
        names = [os.path.join(predictions, os.path.basename(f)) for f in files] if os.path.isdir(predictions) else [predictions]
        got = pa.concat_tables([pq.read_table(f) for f in names])
        for name, want in ('leaf', leaf), ('tests', tests), ('cost', cost):
            judge.expect(np.array_equal(np.array(got[name]), want), f'column {name}')
        seen = np.stack([np.array(got['probability_' + c]) for c in tree.classes], 1)
        gap = np.abs(seen - p).max(initial=0)
        judge.expect(gap <= same, f'probabilities differ by {gap}')
        class_ = np.array([tree.classes.index(c) for c in got['prediction'].to_pylist()], int)
        loss = tree.losses(p)[np.arange(len(p)), class_].max(initial=0)
        judge.expect(loss <= 2 * same, f'a predicted class is worse than the best one by {loss}')
    if metrics:
        judge_metrics(judge, tree, metrics, rows, (seen, class_, leaf, cost, tests), label, split, weight, bool(predictions))
    models = [n.get('model', {}) for n in tree.nodes]
    by = [sum(bool(models[i]) for i in leaf), sum('booster' in models[i] for i in leaf)]
    summary = f'{rows.num_rows} rows, {len(tree.nodes)} nodes, {sum(map(bool, models))} models, {len(tree.boosters)} boosters, '
    summary += f'{by[0]} rows by models, {by[1]} by boosters'
    return judge.finish(summary)


def judge_metrics(judge, tree, metrics, rows, scored, label, split, weight, by_predictions):
    p, class_, leaf, cost, tests = scored
    with open(metrics) as f:
        given = json.load(f)
    truth = texts_of(rows[label or tree.label['column']].combine_chunks())
    known = np.array([x is not None for x in truth], bool)
    unknown = set(truth[known]) - set(tree.classes)
    judge.expect(not unknown, f'labels that are no class: {unknown}')
    truth = np.array([tree.classes.index(x) if x in tree.classes else 0 for x in truth], int)
    w = numbers_of(rows[weight].combine_chunks()) if weight else np.ones(rows.num_rows)
    parts = texts_of(rows[split].combine_chunks()) if split else np.full(rows.num_rows, 'test', object)
    for part in ('train', 'validation', 'test'):
        some = known & (parts == part) & (w > 0)
        if not some.any() or not given.get(part):
            judge.expect(not some.any() or part == 'train', f'no metrics of {part}')
            continue
        judged = w[some]
        if 'priors' in tree.label:  # a class counts as much as its prior says
            sums = np.bincount(truth[some], judged, len(tree.classes))
            judged = judged * np.divide(tree.label['priors'], sums, out=np.zeros(len(sums)), where=sums > 0)[truth[some]]
        m = measured(tree, p[some], class_[some], truth[some], judged, cost[some], tests[some])
        distinct = len(np.unique(np.column_stack([leaf[some], p[some]]), axis=0))
        rounded = tree.version > 1 and distinct * len(tree.classes) > exact
        for name, want in m.items():
            of_table = name in ('auc_ovr_macro', 'log_loss')
            tolerance = (1e-4 if len(tree.classes) == 2 else 0.05) if rounded and of_table else 1e-6 if name == 'auc_ovr_macro' and not by_predictions else 1e-9
            judge.near(given[part].get(name), want, tolerance, f'{part}: {name}')


def invent(document, number, rng):
    """Gives leaves of a tree random models, and some trees priors or error costs."""
    label, nodes = document['label'], document['nodes']
    classes = len(label['classes'])
    if number % 3 == 2:
        document['label']['priors'] = [1 / classes] * classes
        root = np.array(nodes[0]['raw_class_weights'], float)
        factors = 1 / classes / (root / root.sum())
        for n in nodes:
            p = np.array(n['probabilities']) * factors
            n['probabilities'] = [float(x) for x in p / p.sum()]
    if number % 4 == 3:
        costs = rng.integers(1, 6, (classes, classes)).astype(float)
        np.fill_diagonal(costs, 0)
        label['error_costs'] = costs.tolist()
    for n in nodes:
        p = np.array(n['probabilities'])
        expected = p @ np.array(label['error_costs']) if 'error_costs' in label else -p
        slack = 1e-12 * expected.max() if 'error_costs' in label else 0
        n['class'] = label['classes'][int(np.argmax(expected <= expected.min() + slack))]
    width = 1 if classes == 2 else classes
    draw = lambda: [float(x) for x in rng.normal(size=width)]
    features = {f['name']: f for f in document['features']}
    paths, models = {0: []}, 0
    for n in nodes:
        path = paths[n['id']]
        for b in n.get('branches', []):
            paths[b['child']] = path + [n['test']['feature']]
        numeric = sorted({name for name in path if features[name]['type'] == 'numeric'})
        if 'test' in n or not numeric or rng.random() < 0.2:
            continue
        terms = []
        for name in numeric:
            low, high = features[name].get('range') or (0, 1)
            at = np.unique(rng.uniform(low, high + (low == high), rng.integers(1, 9)))
            terms.append({'feature': name, 'at': at.tolist(), 'values': [draw() for _ in at], 'missing': draw()})
        n['model'] = {'intercept': draw(), 'terms': terms}
        models += 1
    document['version'] = 2 if models else 1
    if number % 2 == 0:
        boost(document, paths, rng, draw)
    return document


def boost(document, paths, rng, draw):
    """Gives some inner nodes random boosters, which the models of the leaves below share."""
    features = {f['name']: f for f in document['features']}
    own, numbers, boosters = {}, {}, []
    for n in document['nodes']:
        some = sorted({name for name in paths[n['id']] if features[name].get('cuts') or features[name].get('values')})
        if some and n['id'] not in own and rng.random() < 0.3:
            own[n['id']] = n['id'], some
        for b in n.get('branches', []):
            if n['id'] in own:
                own[b['child']] = own[n['id']]
        if 'test' in n or n['id'] not in own:
            continue
        root, some = own[n['id']]
        if root not in numbers:
            numbers[root] = len(boosters)
            boosters.append([invent_splits(features, some, rng, draw) for _ in range(rng.integers(1, 6))])
        n.setdefault('model', {'intercept': draw(), 'terms': []})['booster'] = numbers[root]
    if boosters:  # which come before the nodes
        nodes = document.pop('nodes')
        document |= {'version': 3, 'boosters': boosters, 'nodes': nodes}


def invent_splits(features, some, rng, draw):
    """A random tree of a booster."""
    splits, open_ = [], []
    for i in range(rng.integers(1, 32)):
        f = features[some[rng.integers(len(some))]]
        numeric = f['type'] == 'numeric'
        choices = f['cuts'] if numeric else f['values']
        s = {'feature': f['name'], 'ge' if numeric else 'is': choices[rng.integers(len(choices))], 'yes': draw(), 'no': draw()}
        if rng.random() < 0.5:
            s['missing'] = True
        if i > 0:
            parent, side = open_.pop(rng.integers(len(open_)))
            parent[side] = i
        splits.append(s)
        open_ += [(s, 'yes'), (s, 'no')]
    return splits


def judge_sets(options):
    """Judges invented models on data sets."""
    from protocol import Espalier, data_sets, load

    fine = True
    with Espalier(options.espalier) as espalier:
        names = [] if options.sets == ['all'] else options.sets
        for number, data in enumerate(data_sets(names, of_paper=False)):
            rng = np.random.default_rng(number)
            run = espalier.train(data, data.files, '--select', 'first', '--certificate', 'none', '--tests', 'both')
            folder, out = os.path.join(espalier.work, 'rows'), os.path.join(espalier.work, 'scored')
            os.makedirs(folder, exist_ok=True)
            for old in glob.glob(os.path.join(folder, '*')):
                os.remove(old)
            for file in data.files:
                rows = pq.read_table(file).slice(0, 200_000)
                for name in rows.column_names[::3]:
                    if name != 'class':
                        empty = pa.array(rng.random(rows.num_rows) < 0.1)
                        column = pc.if_else(empty, pa.scalar(None, rows[name].type), rows[name])
                        rows = rows.set_column(rows.column_names.index(name), name, column)
                pq.write_table(rows, os.path.join(folder, os.path.basename(file)), row_group_size=20_000)
            for plain in False, True:
                document = load(run, 'tree.json')
                path = os.path.join(espalier.work, 'tree.json')
                with open(path, 'w') as f:
                    json.dump(document if plain else invent(document, number, rng), f)
                scored = os.path.join(folder, '*.parquet')
                flags = '--overwrite', '--progress', 'none'
                espalier.run('predict', '--model', path, '--input', scored, '--output', out, *flags)
                print(data.name, end=': ', flush=True)
                fine &= judge_tree(path, [folder], out, os.path.join(out, '_metrics.json'))
    return fine


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('tree', nargs='?')
    ap.add_argument('rows', nargs='*')
    for name in 'predictions', 'metrics', 'label', 'split', 'weight', 'espalier':
        ap.add_argument('--' + name)
    ap.add_argument('--sets', type=lambda s: s.split(','))
    o = ap.parse_args()
    if o.sets:
        fine = judge_sets(o)
    elif o.tree and o.rows:
        fine = judge_tree(o.tree, o.rows, o.predictions, o.metrics, o.label, o.split, o.weight)
    else:
        ap.error('want a tree.json and rows, or --sets')
    sys.exit(0 if fine else 1)


if __name__ == '__main__':
    main()
