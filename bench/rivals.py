"""The peers of peers.py, and the points of each on one split:
scikit-learn's CART with its whole cost-complexity path, one LightGBM tree, a
LightGBM ensemble, and an optimal tree by STreeD.

The cost of a point is its expected number of tests: the mean length of the
decision path over the training rows, summed over the trees of an ensemble.
"""

import dataclasses, heapq, json, os, time

import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow as pa, pyarrow.dataset as ds, pyarrow.parquet as pq
from sklearn.tree import DecisionTreeClassifier

from protocol import Point

parts = 'train', 'validation', 'test'


class Split:
    """The rows of a data set with their parts, as the peers take them."""

    def __init__(self, data, seed):
        self.table = ds.dataset(data.files).to_table()
        rng = np.random.default_rng(seed)
        n = self.table.num_rows
        part = np.repeat(parts, np.diff([0, round(0.7 * n), round(0.8 * n), n]))
        self.part = part[np.argsort(rng.permutation(n))]
        frame = self.table.to_pandas()
        self.classes, self.y = np.unique(frame.pop('class').astype(str).to_numpy(), return_inverse=True)
        self.frame, self.rows = frame, {p: np.flatnonzero(self.part == p) for p in parts}
        chosen = data.categorical.split(',')
        self.categorical = [
            c for c in frame if c in chosen or not pd.api.types.is_numeric_dtype(frame[c]) or frame[c].dtype == bool
        ]
        self.codes = {c: self.encode(frame[c]) for c in self.categorical}

    def encode(self, column):
        """Codes of the training rows' values, null among them; -1 for the others."""
        text = column.astype(object).where(column.notna(), '\0').astype(str)
        values = np.unique(text.iloc[self.rows['train']])
        return pd.Categorical(text, categories=values).codes.astype(int)

    def labels(self, part):
        return self.y[self.rows[part]]

    def one_hot(self):
        """Numbers as they are, an indicator for each value of the categorical columns, in float32."""
        columns = []
        for c in self.frame:
            if c not in self.codes:
                columns.append(self.frame[c].to_numpy('float32', na_value=np.nan)[:, None])
            elif (k := self.codes[c].max() + 1) > 1:
                values = [1] if k == 2 else range(k)
                columns.append(np.stack([self.codes[c] == v for v in values], 1).astype('float32'))
        return np.concatenate(columns, 1)

    def native(self):
        """Numbers as they are, codes of the categorical columns (unseen values missing), and the positions of these."""
        x = np.empty((len(self.y), self.frame.shape[1]))
        for i, c in enumerate(self.frame):
            x[:, i] = (
                np.where(self.codes[c] < 0, np.nan, self.codes[c])
                if c in self.codes
                else self.frame[c].to_numpy(float, na_value=np.nan)
            )
        return x, [i for i, c in enumerate(self.frame) if c in self.codes]

    def binary(self):
        """Indicators: numbers against quantiles of the training rows, categories by value, and missing values."""
        columns, train = [], self.rows['train']
        for c in self.frame:
            if c in self.codes:
                columns += [self.codes[c] == v for v in range(self.codes[c].max() + 1)]
                continue
            x = self.frame[c].to_numpy(float, na_value=np.nan)
            levels = np.quantile(
                x[train][~np.isnan(x[train])], np.arange(1, cuts + 1) / (cuts + 1), method='inverted_cdf'
            )
            columns += [x > cut for cut in np.unique(levels)] + [np.isnan(x)]
        x = np.stack(columns, 1).astype(int)
        share = x[train].mean(0)
        x = x[:, (share > 0) & (share < 1)]
        return x[:, np.sort(np.unique(x[train], axis=1, return_index=True)[1])]


def write_parts(split, folder):
    """The rows with their part, and once more those of validation and test alone."""
    rows = split.table.append_column('part', pa.array(split.part))
    file = os.path.join(folder, 'rows.parquet')
    pq.write_table(rows, file)
    for part in 'validation', 'test':
        pq.write_table(rows.take(split.rows[part]), os.path.join(folder, f'{part}.parquet'))
    return file


@dataclasses.dataclass
class Offers:
    """The points of each peer on one split, and for the optimal trees
    by depth the point, its accuracy on test rows and the seconds it took."""

    cart: list
    lightgbm: list
    ensemble: Point
    optimal: dict


def offers(split, min_leaf, with_optimal):
    boosting = Boosting(split)
    return Offers(
        [p for rows in min_leaf for p in cart(split, rows)],
        boosting.single_trees(),
        boosting.ensemble(),
        optimal_trees(split)
        if with_optimal and len(split.y) <= small[0] and split.frame.shape[1] <= small[1]
        else {},
    )


def kept_offers(split, min_leaf, file, with_optimal=True):
    """The same from a file, if it exists: the points do not depend on Espalier."""
    if file and os.path.exists(file):
        with open(file) as f:
            kept = json.load(f)
        return Offers(
            [Point(*p) for p in kept['cart']],
            [Point(*p) for p in kept['lightgbm']],
            Point(*kept['ensemble']),
            {int(d): (Point(*p), *rest) for d, (p, *rest) in kept['optimal'].items()},
        )
    found = offers(split, min_leaf, with_optimal)
    if file:
        plain = dict(cart=found.cart, lightgbm=found.lightgbm, ensemble=found.ensemble, optimal=found.optimal)
        with open(file, 'w') as f:
            json.dump(plain, f, default=dataclasses.astuple)
    return found


def macro_area(probabilities, counts):
    """Area under the ROC curve, one class against the rest, mean over the classes
    that have one: of leaves with probabilities and counts of rows (leaf, class)."""
    areas = []
    for c in [1] if counts.shape[1] == 2 else range(counts.shape[1]):
        _, rank = np.unique(probabilities[:, c], return_inverse=True)
        positive = np.bincount(rank, counts[:, c])
        negative = np.bincount(rank, counts.sum(1) - counts[:, c])
        if positive.sum() and negative.sum():
            below = np.cumsum(negative) - negative / 2
            areas.append(positive @ below / positive.sum() / negative.sum())
    return float(np.mean(areas))


def row_area(probabilities, y):
    return macro_area(probabilities, np.eye(probabilities.shape[1])[y])


# CART


def cart(split, min_leaf=1):
    """The pruning sequences of trees by entropy and by Gini, at most 300 steps of each."""
    x = split.one_hot()
    return [p for criterion in ('entropy', 'gini') for p in cart_sequence(split, x, criterion, min_leaf)]


def cart_sequence(split, x, criterion, min_leaf):
    train = split.rows['train']
    tree = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=min_leaf, random_state=0).fit(
        x[train], split.y[train]
    )
    t = tree.tree_
    cut, steps = weakest_links(t)
    if t.node_count < 2000:
        agree(tree.cost_complexity_pruning_path(x[train], split.y[train]), risks(t, cut, steps))
    counts = {
        p: subtree_counts(t, tree.apply(x[split.rows[p]]), split.labels(p), len(split.classes))
        for p in ('validation', 'test')
    }
    probabilities, share = t.value[:, 0], t.weighted_n_node_samples / t.weighted_n_node_samples[0]
    dropped = drops(t, cut, steps)
    points = []
    # The trees for budgets are at the end: all of the last 150 stay, and 150 others at even steps.
    for k in sorted({*range(max(0, steps - 150), steps + 1), *np.linspace(0, steps, 150).astype(int).tolist()}):
        leaves = (cut <= k) & (dropped > k)
        area = {p: macro_area(probabilities[leaves], counts[p][leaves]) for p in counts}
        points.append(
            Point(
                float(share[(cut > k) & (dropped > k)].sum()),
                area['validation'],
                area['test'],
                f'{criterion} {leaves.sum()} leaves',
            )
        )
    return points


def drops(t, cut, steps):
    """For each node the step at which an ancestor becomes a leaf."""
    dropped = np.full(t.node_count, steps + 1)
    for node in range(t.node_count):
        for child in children(t, node):
            dropped[child] = min(dropped[node], cut[node])
    return dropped


def risks(t, cut, steps):
    """The training impurity after each step, the un-pruned tree first."""
    dropped = drops(t, cut, steps)
    risk = t.weighted_n_node_samples / t.weighted_n_node_samples[0] * t.impurity
    return np.array([risk[(cut <= k) & (dropped > k)].sum() for k in range(steps + 1)])


def agree(path, ours):
    """scikit-learn's path is found again: steps whose alphas tie may come in another order."""
    alphas = path.ccp_alphas
    last = np.append(np.diff(alphas) > 1e-9, True)  # the last of tied steps
    far = max(abs(ours - risk).min() for risk in path.impurities[last])
    if far > 1e-9:
        raise AssertionError(f'the pruning sequence is {far} away from cost_complexity_pruning_path')


def children(t, node):
    return () if t.children_left[node] < 0 else (t.children_left[node], t.children_right[node])


def subtree_counts(t, leaves, y, classes):
    """Rows by node and class."""
    counts = np.zeros((t.node_count, classes))
    np.add.at(counts, (leaves, y), 1)
    for node in range(t.node_count - 1, -1, -1):
        for child in children(t, node):
            counts[node] += counts[child]
    return counts


def weakest_links(t):
    """Minimal cost-complexity pruning (Breiman et al. 1984): for each node the
    step at which it becomes a leaf (0: it is one; steps + 1: never), one node a
    step, and the number of steps. scikit-learn's ccp_pruning_path has the same
    sequence, but looks at every node at every step."""
    n = t.node_count
    risk = t.weighted_n_node_samples / t.weighted_n_node_samples[0] * t.impurity
    below, leaves, parent = risk.copy(), np.ones(n, int), np.full(n, -1)
    inner = t.children_left >= 0
    for node in np.flatnonzero(inner)[::-1]:
        pair = [*children(t, node)]
        parent[pair], below[node], leaves[node] = node, below[pair].sum(), leaves[pair].sum()
    cut = np.where(inner, n, 0)

    def link(node):
        return (risk[node] - below[node]) / (leaves[node] - 1), node

    heap, alive = [link(i) for i in np.flatnonzero(inner)], inner.copy()
    heapq.heapify(heap)
    step = 0
    while heap:
        entry = heapq.heappop(heap)
        node = entry[1]
        if not alive[node] or link(node) != entry:
            continue
        step += 1
        cut[node] = step
        drop(t, node, alive)
        gain, fewer, up = risk[node] - below[node], leaves[node] - 1, node
        while up >= 0:
            below[up] += gain
            leaves[up] -= fewer
            if up != node:
                heapq.heappush(heap, link(up))
            up = parent[up]
    return np.where(cut == n, step + 1, cut), step


def drop(t, node, alive):
    """Takes a node and those under it out."""
    stack = [node]
    while stack:
        i = stack.pop()
        if alive[i]:
            alive[i] = False
            stack += children(t, i)


# LightGBM

leaf_counts = 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512
leaf_rows = 1, 5, 20, 100
quiet = dict(verbose=-1, num_threads=1, deterministic=True, force_row_wise=True)


class Boosting:
    """LightGBM on one split. Of more than two classes each round has a tree a class, and a row takes them all."""

    def __init__(self, split, **binning):
        self.split, (self.x, self.categorical) = split, split.native()
        train = split.rows['train']
        self.rows = {p: self.x[split.rows[p]] for p in parts}
        self.data = lgb.Dataset(
            self.rows['train'],
            split.y[train],
            categorical_feature=self.categorical,
            params=dict(quiet, feature_pre_filter=False, **binning),
            free_raw_data=False,
        ).construct()

    def point(self, rounds, name, **parameters):
        k = len(self.split.classes)
        objective = dict(objective='binary') if k == 2 else dict(objective='multiclass', num_class=k)
        model = lgb.train(dict(quiet, feature_pre_filter=False, **objective, **parameters), self.data, rounds)
        return self.measured(model, name)

    def measured(self, model, name):
        area = {p: row_area(self.probabilities(model, p), self.split.labels(p)) for p in ('validation', 'test')}
        return Point(self.tests(model), area['validation'], area['test'], name)

    def probabilities(self, model, part):
        p = model.predict(self.rows[part], num_threads=1)
        return p if p.ndim == 2 else np.stack([1 - p, p], 1)

    def tests(self, model, features=slice(None)):
        rows = self.rows['train'][:, features]
        leaves = model.predict(rows, pred_leaf=True, num_threads=1).astype(int).reshape(len(rows), -1)
        return float(
            sum(
                leaf_depths(tree['tree_structure'], tree['num_leaves'])[column].mean()
                for tree, column in zip(model.dump_model()['tree_info'], leaves.T)
            )
        )

    def single_trees(self):
        """One round at full step over the grid of sizes. A leaf then has the frequencies of its rows."""
        return [
            self.point(
                1,
                f'{leaves} leaves of {rows}',
                learning_rate=1.0,
                num_leaves=leaves,
                min_data_in_leaf=rows,
                min_sum_hessian_in_leaf=0.0,
            )
            for leaves in leaf_counts
            for rows in leaf_rows
        ]

    def ensemble(self):
        return self.point(100, '100 rounds')


def leaf_depths(node, leaves):
    depths = np.zeros(leaves)
    stack = [(node, 0)]
    while stack:
        node, depth = stack.pop()
        if 'left_child' in node:
            stack += [(node['left_child'], depth + 1), (node['right_child'], depth + 1)]
        else:
            depths[node.get('leaf_index', 0)] = depth
    return depths


# STreeD

small = 6000, 100  # greatest number of rows and columns for an exact search
cuts, patience = 9, 60  # quantiles of a number column; seconds


def optimal_trees(split):
    found = {}
    for depth in 2, 3, 4:
        if not (tree := optimal(split, depth)):
            break
        found[depth] = tree
    return found


def optimal(split, depth):
    """The tree of the least training error on indicators of the training rows'
    quantiles: a Point, its accuracy on test rows and the seconds it took; None
    where the limit was reached."""
    from pystreed import STreeDClassifier

    x = split.binary()
    train, test = split.rows['train'], split.rows['test']
    start = time.perf_counter()
    model = STreeDClassifier(max_depth=depth, time_limit=patience)
    model.fit(x[train], split.y[train])
    seconds = time.perf_counter() - start
    if not model.fit_result.is_optimal():
        return None
    at, depths = descend(model.get_tree(), x)
    counts = {p: np.zeros((len(depths), len(split.classes))) for p in parts}
    for p in parts:
        np.add.at(counts[p], (at[split.rows[p]], split.labels(p)), 1)
    probabilities = counts['train'] / counts['train'].sum(1, keepdims=True)
    hits = (probabilities.argmax(1)[at[test]] == split.y[test]).mean()
    area = {p: macro_area(probabilities, counts[p]) for p in ('validation', 'test')}
    return (
        Point(float(depths[at[train]].mean()), area['validation'], area['test'], f'depth {depth}'),
        float(hits),
        seconds,
    )


def descend(node, x):
    """The leaf of each row, and the depth of each leaf."""
    at, depths = np.zeros(len(x), int), []
    stack = [(node, np.arange(len(x)), 0)]
    while stack:
        node, rows, depth = stack.pop()
        if node.is_leaf_node():
            at[rows] = len(depths)
            depths.append(depth)
            continue
        yes = x[rows, node.feature] > 0
        stack += [(node.right_child, rows[yes], depth + 1), (node.left_child, rows[~yes], depth + 1)]
    return at, np.array(depths)
