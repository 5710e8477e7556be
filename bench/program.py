#!/usr/bin/env python3
"""Grows the paper's trees by the rules of its authors' program, to see where published figures differ
from Espalier's, and why.

    bench/program.py [--sets NAME,..] [--json FILE] [--processes 2]

An implementation of its own, in numpy and numba, of the paper's seven algorithms. The authors'
program (github.com/Guangyi-Zhang/low-expected-cost-decision-trees, read, not copied) has rules that
are not in the paper's text. Each of them is a switch here; Espalier has none of them:

- filled: missing values take the column's most frequent value, and have no code of their own.
- bins: numbers are cut by scikit-learn's k-means, on all rows, before the split.
- few: nodes of one or two objects are leaves.
- child: ec45 and ecart weigh the impurity of a child by its share of all rows.
- down: pruning goes from the root down. It compares a node with its un-pruned subtree.
- majority: pruning takes the impurity of the objects' majority classes, not of the rows' classes.
- tenth: on large data sets lambda is chosen by trees of a tenth of the training rows.
- pairs: ip multiplies the pairs of a node by its weight.
- branch: bal asks tests with one outcome in the node, each once on a path. A row with the other outcome
  ends there.
- absent: the mean AUC leaves out a class that no object has.

Two things are not known of the program, and other choices of them are tried: by what missing values are
filled (mean, zero, or a value below all others), and where k-means ends (after 8 or 20 steps).

Lambda (100, 10, .. 0.01) and alpha (1e-5, 1e-4, .. 1) are chosen from the same grids as by
the program in experiments. Each figure is there with all rules (program), with none (paper), with all but one of
them (-RULE), and with all rules and another choice (~CHOICE), on the same stratified splits of 70/10/20.
"""

import argparse, concurrent.futures, dataclasses, json, os, sys, tempfile, warnings

sys.dont_write_bytecode = True
from needs import need

need('results')
os.environ.setdefault('OMP_NUM_THREADS', '1')  # there are several processes: threads of k-means would wait for one another
os.environ.setdefault('NUMBA_CACHE_DIR', os.path.join(tempfile.gettempdir(), 'espalier-numba'))

import kmeans1d
import numpy as np
import pandas as pd
from numba import njit
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import KBinsDiscretizer

from protocol import data_sets

rules = frozenset(['filled', 'bins', 'few', 'child', 'tenth', 'down', 'majority', 'pairs', 'branch', 'absent'])
choices = {'mean': 'filled', 'zero': 'filled', 'below': 'filled', '8 steps': 'bins', '20 steps': 'bins'}  # and the rule that each is of
coding = frozenset(['filled', 'bins', *choices])  # what codes depend on
lambdas = 100, 10, 1, 0.1, 0.01
alphas = 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1
impurity, greedy, pairs, balance = range(4)
small, many, few = 8_000_000, 20, 5  # values below which there are many splits of a data set, and few of others
large = 10_000_000  # rows times tests above which the program's records have lambda chosen on a tenth


def variants(method, rows):
    """The sets of rules that a method is tried with, by name. coarse is no rule: theta is twice as large."""
    own = {'bins', 'few'}
    if rows.missing:
        own.add('filled')
    if method.removeprefix('p-') in ('ec45', 'ecart'):
        own |= {'child', 'tenth'} if rows.large else {'child'}
    if method.startswith('p-'):
        own |= {'down', 'majority'}
    own |= {'ip': {'pairs'}, 'bal': {'branch'}}.get(method, set())
    if rows.classes.max() > 1:
        own.add('absent')
    found = {'program': rules, 'paper': frozenset(), **{'-' + r: rules - {r} for r in sorted(own)}}
    if not any(rows.numeric):
        own.remove('bins')
    found |= {'~' + c: rules | {c} for c, rule in choices.items() if rule in own}
    return found | ({'coarse': rules | {'coarse'}} if method == 'bal' else {})


# Rows and objects


@dataclasses.dataclass
class Rows:
    """A data set: its columns, the classes of the rows, and which columns are numbers."""

    columns: list
    numeric: list
    classes: np.ndarray
    kept: dict = dataclasses.field(default_factory=dict)  # codes that are the same on all splits

    @property
    def missing(self):
        return any(np.isnan(values).any() for values in self.columns)

    @property
    def large(self):
        tests = sum(5 if number else len(np.unique(values)) for values, number in zip(self.columns, self.numeric))
        return len(self.classes) * tests > large


def load(data):
    table = pd.concat([pd.read_parquet(f) for f in data.files], ignore_index=True)
    columns, numeric = [], []
    for name, column in table.items():
        if name == 'class':
            continue
        number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        cut = number and name not in data.categorical.split(',') and column.nunique() > 5
        numeric.append(cut)
        codes = column.astype('category').cat.codes.to_numpy()
        columns.append(column.to_numpy(dtype=float, na_value=np.nan) if cut else np.where(codes < 0, np.nan, codes))
    return Rows(columns, numeric, table['class'].astype(str).astype('category').cat.codes.to_numpy().astype(np.int32))


def cuts(values, own):
    """The cuts of five bins: scikit-learn's, or those of the least sum of squares."""
    if 'bins' not in own:
        return between(kmeans1d.cluster(values, 5).centroids)
    with warnings.catch_warnings(action='ignore'):  # of bins that fall together
        for steps in own & {'8 steps', '20 steps'}:  # one at most, from the centres of scikit-learn's binning
            edges, most = np.linspace(values.min(), values.max(), 6), int(steps.split()[0])
            ended = KMeans(5, init=(edges[1:] + edges[:-1])[:, None] / 2, n_init=1, max_iter=most).fit(values[:, None])
            return between(ended.cluster_centers_[:, 0])
        bins = KBinsDiscretizer(5, encode='ordinal', strategy='kmeans', subsample=None).fit(values[:, None])
    return bins.bin_edges_[0][1:-1]


def between(centres):
    """The middles between neighbouring centres."""
    centres = np.unique(centres)
    return (centres[1:] + centres[:-1]) / 2


def filled(values, own):
    """A column whose missing values have the most frequent value, or that of another choice."""
    known = values[~np.isnan(values)]
    if 'mean' in own:
        value = known.mean()
    elif 'zero' in own:
        value = 0
    elif 'below' in own:
        value = known.min() - 1
    else:
        frequent, counts = np.unique(known, return_counts=True)
        value = frequent[counts.argmax()]
    return np.where(np.isnan(values), value, values)


def encode(rows, train, own):
    """Codes by row and column. Missing values have a code of their own, if they are not filled."""
    coded, by_library = [], 'bins' in own
    for values, number in zip(rows.columns, rows.numeric):
        if 'filled' in own and np.isnan(values).any():
            values = filled(values, own)
        if number:
            known = ~np.isnan(values)
            of = known if by_library else known & train
            values = np.where(known, np.searchsorted(cuts(values[of], own), values, 'right'), np.nan)
        coded.append(np.unique(np.where(np.isnan(values), np.inf, values), return_inverse=True)[1].astype(np.int32))
    return np.stack(coded, 1)


@dataclasses.dataclass
class Objects:
    """The distinct training rows, with their weights by class."""

    codes: np.ndarray
    weights: np.ndarray  # by object and class
    classes: np.ndarray  # the majority
    first: np.ndarray  # test of each column, and the number of all tests
    twin: np.ndarray  # of a test: whether it is the other one of a column with two codes
    theta: float


def coalesce(codes, classes, train):
    own = np.ascontiguousarray(codes[train])
    keys, at = np.unique(own.view([('', own.dtype)] * own.shape[1]).ravel(), return_inverse=True)
    weights = np.zeros((len(keys), classes.max() + 1))
    np.add.at(weights, (at, classes[train]), 1)
    one = np.empty(len(keys), int)
    one[at] = np.arange(len(at))
    sizes = codes.max(0) + 1
    first = np.concatenate([[0], np.cumsum(sizes)])
    twin = np.zeros(first[-1], bool)
    twin[first[:-1][sizes == 2]] = True
    theta = max(0.005, 2.1 / (0.7 * len(codes)))
    return Objects(own[one], weights, weights.argmax(1).astype(np.int32), first, twin, theta)


# Trees


@njit(cache=True)
def impurity_of(weights, total, gini):
    s = 0.0
    for w in weights:
        if w > 0:
            p = w / total
            s += p * (1 - p) if gini else -p * np.log2(p)
    return s


@njit(cache=True)
def mixed(numbers, total):
    """The pairs of objects of different classes."""
    s = total * total
    for n in numbers:
        s -= n * n
    return s / 2


@njit(cache=True)
def grow(codes, first, twin, classes, weight, of_class, theta, kind, gini, factor, few, child, weighed):
    """Grows a tree: test, child of a no, child of a yes, weights by class, and by node the tests with one
    outcome less those of its parent."""
    n, columns = codes.shape
    tests, most, total = first[-1], 2 * n + 1, weight.sum()
    column, code = np.empty(tests, np.int64), np.empty(tests, np.int64)
    for f in range(columns):
        for t in range(first[f], first[f + 1]):
            column[t], code[t] = f, t - first[f]
    test, no, yes, parent = np.full(most, -1), np.full(most, -1), np.full(most, -1), np.full(most, -1)
    begin, end, ones = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    extra, held = np.zeros(most, np.int64), np.zeros((most, of_class))
    order, aside = np.arange(n), np.empty(n, np.int64)
    number, mass = np.zeros((tests, of_class)), np.zeros((tests, of_class))
    heavy, ratio, product = np.zeros(tests), np.zeros(tests), np.zeros(tests)
    all_number, all_mass, no_number, no_mass = np.zeros(of_class), np.zeros(of_class), np.zeros(of_class), np.zeros(of_class)
    nodes, v = 1, -1
    end[0] = n
    while v + 1 < nodes:
        v += 1
        all_number[:], all_mass[:] = 0, 0
        for k in range(begin[v], end[v]):
            all_number[classes[order[k]]] += 1
            all_mass[classes[order[k]]] += weight[order[k]]
        held[v] = all_mass
        n_v, w_v = all_number.sum(), all_mass.sum()
        pairs_v = mixed(all_number, n_v)
        if pairs_v == 0 or w_v <= theta * total * (1 + 1e-9) or (few and n_v <= 2):
            continue
        number[:], mass[:], heavy[:], ratio[:], product[:] = 0, 0, 0, 0, 0
        heavy_v = ratio_v = product_v = 0.0
        for k in range(begin[v], end[v]):
            i = order[k]
            w = weight[i]
            is_heavy = kind == 1 and w > theta * total
            r = w / (w_v - w) if is_heavy else 0.0
            if is_heavy:
                heavy_v, ratio_v, product_v = heavy_v + w, ratio_v + r, product_v + r * w
            for f in range(columns):
                t = first[f] + codes[i, f]
                number[t, classes[i]] += 1
                mass[t, classes[i]] += w
                if is_heavy:
                    heavy[t] += w
                    ratio[t] += r
                    product[t] += r * w
        impurity_v = impurity_of(all_mass, w_v, gini)
        best, best_score = -1, -np.inf
        for t in range(tests):
            if twin[t]:
                continue
            n_1, w_1 = number[t].sum(), mass[t].sum()
            n_0, w_0 = n_v - n_1, w_v - w_1
            if n_1 == 0 or n_0 == 0:
                ones[v] += 1
                continue
            for c in range(of_class):
                no_number[c], no_mass[c] = all_number[c] - number[t, c], all_mass[c] - mass[t, c]
            p_1, p_0 = mixed(number[t], n_1), mixed(no_number, n_0)
            left = w_1 * impurity_of(mass[t], w_1, gini) + w_0 * impurity_of(no_mass, w_0, gini)
            if kind == 0:
                score = -left / total
            elif kind == 2:
                score = -(w_1 * p_1 + w_0 * p_0) / (w_v * pairs_v) if weighed else -(p_1 + p_0) / pairs_v
            elif kind == 3:
                score = -abs(w_1 - w_0) / total
            else:
                score = w_0 if n_1 > n_0 else w_1
                m = theta * total
                score += (w_1 - heavy[t]) * (1 - max(w_1 - m, 0.0) / (w_v - m) * p_1 / pairs_v)
                score += (w_0 - heavy_v + heavy[t]) * (1 - max(w_0 - m, 0.0) / (w_v - m) * p_0 / pairs_v)
                score += heavy[t] - p_1 / pairs_v * (w_1 * ratio[t] - product[t])
                score += heavy_v - heavy[t] - p_0 / pairs_v * (w_0 * (ratio_v - ratio[t]) - product_v + product[t])
                score += factor * w_v * (impurity_v - left / (total if child else w_v))
                score /= total
            if best < 0 or score > best_score + 1e-12 * max(1.0, abs(best_score)):
                best, best_score = t, score
        extra[v] = ones[v] - (ones[parent[v]] + 1 if v > 0 else 0)
        if best < 0:
            continue
        test[v] = best
        middle, moved = begin[v], 0
        for k in range(begin[v], end[v]):
            i = order[k]
            if codes[i, column[best]] == code[best]:
                aside[moved] = i
                moved += 1
            else:
                order[middle] = i
                middle += 1
        order[middle : middle + moved] = aside[:moved]
        no[v], yes[v] = nodes, nodes + 1
        begin[nodes], end[nodes], begin[nodes + 1], end[nodes + 1] = begin[v], middle, middle, end[v]
        parent[nodes], parent[nodes + 1] = v, v
        nodes += 2
    return test[:nodes].copy(), no[:nodes].copy(), yes[:nodes].copy(), held[:nodes].copy(), extra[:nodes].copy()


@njit(cache=True)
def route(codes, column, code, test, no, yes):
    """The un-pruned tree's leaf of each row."""
    at = np.zeros(len(codes), np.int64)
    for i in range(len(codes)):
        while test[at[i]] >= 0:
            t = test[at[i]]
            at[i] = yes[at[i]] if codes[i, column[t]] == code[t] else no[at[i]]
    return at


@njit(cache=True)
def halt(codes, objects, first, column, code, test, no, yes):
    """The first inner node on each row's path with a value that no object in the node has, or else the leaf."""
    seen = np.zeros((len(test), first[-1]), np.bool_)
    at = np.zeros(len(codes), np.int64)
    for i in range(len(objects)):
        v = 0
        while test[v] >= 0:
            for f in range(objects.shape[1]):
                seen[v, first[f] + objects[i, f]] = True
            v = yes[v] if objects[i, column[test[v]]] == code[test[v]] else no[v]
    for i in range(len(codes)):
        v, known = 0, True
        while test[v] >= 0:
            for f in range(codes.shape[1]):
                known = known and seen[v, first[f] + codes[i, f]]
            if not known:
                break
            v = yes[v] if codes[i, column[test[v]]] == code[test[v]] else no[v]
        at[i] = v
    return at


class Tree:
    def __init__(self, o, kind, own, gini=False, factor=0.0):
        weight = o.weights.sum(1)
        flags, theta = ('few' in own, 'child' in own, 'pairs' in own), o.theta * (2 if 'coarse' in own else 1)
        self.test, self.no, self.yes, self.held, self.extra = grow(
            o.codes, o.first, o.twin, o.classes, weight, o.weights.shape[1], theta, kind, gini, factor, *flags
        )
        self.objects, self.gini, self.total = o, gini, weight.sum()
        self.column = np.searchsorted(o.first, np.arange(o.first[-1]), 'right') - 1
        self.code = np.arange(o.first[-1]) - o.first[self.column]
        self.leaf = self.test < 0
        self.branch = kind == balance and 'branch' in own

    def counts(self, codes, classes):
        """The rows by node and class: those that end there if tests of one outcome are asked, else all."""
        n = np.zeros(self.held.shape)
        tree = self.column, self.code, self.test, self.no, self.yes
        at = halt(codes, self.objects.codes, self.objects.first, *tree) if self.branch else route(codes, *tree)
        np.add.at(n, (at, classes), 1)
        return n if self.branch else self.up(n)

    def up(self, n):
        for v in range(len(self.test) - 1, -1, -1):
            if self.test[v] >= 0:
                n[v] += n[self.no[v]] + n[self.yes[v]]
        return n

    def reached(self, leaf):
        there = np.zeros(len(self.test), bool)
        there[0] = True
        for v in range(len(self.test)):
            if there[v] and not leaf[v]:
                there[self.no[v]] = there[self.yes[v]] = True
        return there

    def cost(self, leaf):
        inner = self.reached(leaf) & ~leaf
        asked = 1 + (self.extra if self.branch else 0)
        return float((self.held.sum(1) * asked)[inner].sum() / self.total)

    def risks(self, majority):
        n = self.held
        if not majority:
            n = np.zeros(self.held.shape)
            at = route(self.objects.codes, self.column, self.code, self.test, self.no, self.yes)
            np.add.at(n, at, self.objects.weights)
            n = self.up(n)
        p = n / n.sum(1, keepdims=True)
        with np.errstate(divide='ignore', invalid='ignore'):
            of = 1 - (p * p).sum(1) if self.gini else -np.where(p > 0, p * np.log2(p), 0).sum(1)
        return n.sum(1) / self.total * of

    def pruned(self, alpha, risk, down):
        """The leaves at an alpha, of the least risk plus alpha times leaves; or those that the program has."""
        leaf, best, grown = self.leaf.copy(), risk + alpha, risk + alpha
        for v in range(len(self.test) - 1, -1, -1):
            if self.test[v] >= 0:
                best[v] = min(risk[v] + alpha, best[self.no[v]] + best[self.yes[v]])
                grown[v] = grown[self.no[v]] + grown[self.yes[v]]
                leaf[v] = risk[v] + alpha < grown[v] if down else risk[v] + alpha <= best[v]
        return leaf

    def area(self, leaf, n, absent):
        """The mean area of the classes against the rest, from the counts of rows."""
        p = self.held / self.held.sum(1, keepdims=True)
        ends = np.arange(len(leaf)) if self.branch else np.flatnonzero(self.reached(leaf) & leaf)
        areas = []
        for c in range(self.held.shape[1]):
            positive, rows = n[ends, c], n[ends].sum(1)
            negative = rows - positive
            if positive.sum() == 0 or negative.sum() == 0 or absent and self.held[0, c] == 0:
                continue
            _, of = np.unique(p[ends, c], return_inverse=True)
            positive, negative = np.bincount(of, positive), np.bincount(of, negative)
            below = np.cumsum(negative) - negative
            areas.append((positive * (below + negative / 2)).sum() / positive.sum() / negative.sum())
        return float(np.mean(areas))


# Figures


class Split:
    """The figures of one split, with trees kept for other sets of rules."""

    def __init__(self, rows, seed):
        self.rows, self.kept, self.large = rows, {}, rows.large
        y = rows.classes
        train, rest = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        self.validation, self.test = train_test_split(rest, test_size=2 / 3, stratify=y[rest], random_state=seed)
        self.train = np.zeros(len(y), bool)
        self.train[train] = True
        self.tenth = np.zeros(len(y), bool)
        self.tenth[np.random.default_rng(seed).choice(train, len(train) // 10 + 1, replace=False)] = True

    def once(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def codes(self, own):
        matters = own & coding
        if 'bins' in own:
            if matters not in self.rows.kept:
                self.rows.kept[matters] = encode(self.rows, None, matters)
            return self.rows.kept[matters]
        return self.once(('codes', matters), lambda: encode(self.rows, self.train, matters))

    def tree(self, own, kind, gini=False, factor=0.0, train=None):
        """The tree, with the rows of the validation and test parts at its nodes; of some training rows or all."""
        all_of = train is None
        by_kind = {'child'} if kind == greedy and factor else {'pairs', 'branch'}
        matters = own & (coding | {'few', 'coarse'} | by_kind)

        def make():
            codes, y = self.codes(own), self.rows.classes
            grown_on = self.train if all_of else train
            objects = self.once(('objects', own & coding, all_of), lambda: coalesce(codes, y, grown_on))
            t = Tree(objects, kind, own, gini, factor)
            return t, *(t.counts(codes[part], y[part]) for part in (self.validation, self.test))

        return self.once((matters, kind, gini, factor, all_of), make)

    def chosen(self, own, gini):
        """The tree of the last lambda, from large to small, before the area falls by more than 0.01."""
        highest, last, part = 0, None, self.tenth if 'tenth' in own and self.large else None
        for factor in lambdas:
            tree, validation, _ = self.tree(own, greedy, gini, factor, part)
            area = tree.area(tree.leaf, validation, 'absent' in own)
            if area < highest - 0.01:
                break
            highest, last = max(highest, area), factor
        return self.tree(own, greedy, gini, last)

    def figures(self, method, own):
        """AUC on test rows and expected cost on training rows."""
        name = method.removeprefix('p-')
        gini = 'cart' in name
        if name in ('ec45', 'ecart'):
            t, validation, test = self.chosen(own, gini)
        else:
            kind = {'asr': greedy, 'ip': pairs, 'bal': balance}.get(name, impurity)
            t, validation, test = self.tree(own, kind, gini)
        leaf = t.leaf
        if method != name:
            risk = t.risks('majority' in own)
            pruned = [t.pruned(a, risk, 'down' in own) for a in alphas]
            leaf = max(pruned, key=lambda leaf: t.area(leaf, validation, 'absent' in own))  # the first of equals
        return t.area(leaf, test, 'absent' in own), t.cost(leaf)


methods = 'c45', 'p-c45', 'ec45', 'p-ec45', 'cart', 'p-cart', 'ecart', 'p-ecart', 'asr', 'ip', 'bal'


def measure(data):
    """The figures of a data set: by method and variant a pair (AUC, cost) for each split."""
    rows = load(data)
    found = {m: {v: [] for v in variants(m, rows)} for m in methods}
    for seed in range(1, (many if len(rows.classes) * len(rows.columns) < small else few) + 1):
        split = Split(rows, seed)
        for m in methods:
            for name, own in variants(m, rows).items():
                found[m][name].append(split.figures(m, own))
    return found


def measure_all(names, processes):
    """The figures of all data sets, by name."""
    sets = sorted(data_sets(names), key=lambda d: -sum(os.path.getsize(f) for f in d.files))
    found = {}
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        work = {pool.submit(measure, d): d.name for d in sets}
        for done in concurrent.futures.as_completed(work):
            found[work[done]] = done.result()
            print(f"{work[done]}: the program's rules are done", file=sys.stderr, flush=True)
    return found


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=[])
    ap.add_argument('--processes', type=int, default=2)
    ap.add_argument('--json', help='file of the figures of all splits')
    options = ap.parse_args()
    found = measure_all(options.sets, options.processes)
    if options.json:
        with open(options.json, 'w') as f:
            json.dump(found, f)
    print('| data set | method | variant | AUC | cost |\n| --- | --- | --- | ---: | ---: |')
    for name, by_method in sorted(found.items()):
        for method, by_variant in by_method.items():
            for variant, pairs_found in by_variant.items():
                area, cost = np.mean(pairs_found, 0)
                print(f'| {name} | {method} | {variant} | {area:.4f} | {cost:.3f} |')


if __name__ == '__main__':
    main()
