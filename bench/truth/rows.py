"""Rows with known class probabilities, and the figures of a tree on them by an independent reader of tree.json."""

import dataclasses, glob, json, os, shutil, zlib

import numpy as np
import pyarrow as pa

import check_models
from check_models import area

fresh = 100_000  # rows that the true figures of a tree are computed from
covered = (0.93, 0.97)  # wanted share of 95 % intervals that contain the true figure
prices = 'feature,cost,group,group_cost\nx0,1,lab,2\nx1,1,lab,2\nx2,3,,\nx3,0.5,,\n'
# Few trees, as any tree will do.
quick = ('--algorithm', 'c45', '--folds', '0', '--teacher', 'none', '--select', 'highest', '--max_leaves', '12')
names = {  # the figures whose intervals are judged
    'AUC': 'auc_ovr_macro', 'accuracy': 'accuracy', 'balanced accuracy': 'balanced_accuracy', 'log loss': 'log_loss',
    'cost': 'expected_cost',
}


@dataclasses.dataclass
class Rows:
    x: object  # features, by row
    q: object  # true class probabilities, by row
    label: object  # class codes
    weight: object = None  # of the row with its class, by row and class
    group: object = None

    def columns(self):
        """The columns of a file but the label."""
        found = self.features()
        if self.weight is not None:
            found['w'] = self.weight[np.arange(len(self.label)), self.label]
        if self.group is not None:
            found['g'] = np.char.add('g', self.group.astype(str))
        return found

    def features(self):
        return {f'x{j}': self.x[j] for j in range(len(self.x))}

    def classes(self):
        return np.array(list('abcd'))[self.label]

    def mass(self):
        """What a row of each class counts in the true figures."""
        return self.q if self.weight is None else self.q * self.weight


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def two(z):
    p = sigmoid(z)
    return np.column_stack([1 - p, p])


def drawn(rng, q):
    """A class for each row of probabilities."""
    return np.minimum((rng.uniform(size=(len(q), 1)) > np.cumsum(q, axis=1)).sum(axis=1), q.shape[1] - 1)


def score(x):
    """A score in which x0 and x1 count the same."""
    return x[0] + x[1] + 0.8 * np.where(x[2] > 0.3, 1, -1)


def single(n, z=score, weigh=None):
    """Draws n independent rows. z gives the score of the second class, or of all classes; weigh the weights."""

    def draw(rng, n=n):
        x = rng.normal(size=(4, n))
        s = z(x)
        if s.ndim == 2:
            e = np.exp(s)
            q = e / e.sum(axis=1, keepdims=True)
        else:
            q = two(s)
        return Rows(x, q, drawn(rng, q), weigh and weigh(rng, q))

    return draw


def lognormal(sd):
    return lambda rng, q: np.exp(sd * rng.normal(size=(len(q), 1))) * np.ones(q.shape[1])


def by_class(rng, q):
    return np.tile([1.0, 8.0], (len(q), 1))


def counted(ill, own, z):
    """Draws rows, of which ill are of the second class."""
    many = single(own, z)

    def draw(rng, n=own):
        if n != own:  # to train, and for true figures
            return many(rng, n)
        r = many(rng, 40 * n)
        at = np.concatenate([np.flatnonzero(r.label == 1)[:ill], np.flatnonzero(r.label == 0)[: n - ill]])
        assert len(at) == n
        return Rows(r.x[:, at], r.q[at], r.label[at])

    return draw


def grouped(sizes, shared):
    """Draws groups of rows, each with one of these sizes. Either all rows of a group have one class, or the groups
    have effects on the score that no feature tells."""
    sizes = np.array(sizes)

    def draw(rng, n=None):
        own = sizes if n is None else np.resize(sizes, -(-n // round(sizes.mean())))
        g = np.repeat(np.arange(len(own)), own)
        centre = rng.normal(size=(4, len(own)))
        if shared:
            q = two(score(centre))
            label = drawn(rng, q)[g]
            return Rows(centre[:, g] + 0.3 * rng.normal(size=(4, len(g))), q[g], label, None, g)
        x = 0.7 * centre[:, g] + 0.7 * rng.normal(size=(4, len(g)))
        q = two(score(x) + 1.5 * rng.normal(size=len(own))[g])
        return Rows(x, q, drawn(rng, q), None, g)

    return draw


def near_one(x):
    return 25 * x[0]


def rare(x):
    return score(x) - 5


def several(x):
    return np.column_stack([score(x), 1.5 * x[1], 1.2 * x[2] - 0.5, -score(x) + 0.3 * x[3]])


@dataclasses.dataclass
class Kind:
    title: str
    draw: object  # draws a sample, or n rows
    training: int = 3000  # rows
    options: tuple = ()  # of train
    only: tuple = ()  # figures that are judged; none: all
    paired: bool = False  # two trees are compared on such rows

    def flags(self, rows):
        """The options of evaluate for these rows."""
        return [*(['--weight', 'w'] if rows.weight is not None else []), *(['--group', 'g'] if rows.group is not None else [])]


errors = 'actual,predicted,cost\nb,a,40\n'
missed = ('--error_costs', 'errors.csv')  # else the tree always predicts the same class
ranks = ('AUC', 'balanced accuracy')  # figures of rows whose numbers by class are fixed
kinds = [
    Kind('500 equal rows', single(500), paired=True),
    Kind('1,000 rows, log-normal weights, sd 1', single(1000, weigh=lognormal(1)), paired=True),
    Kind('2,000 rows, log-normal weights, sd 2', single(2000, weigh=lognormal(2)), paired=True),
    Kind('500 rows, weights by class', single(500, weigh=by_class), paired=True),
    Kind('50 groups of 10 rows of one class', grouped([10] * 50, True), paired=True),
    Kind('30 groups of 30 rows', grouped([30] * 30, False), paired=True),
    Kind('60 groups of 1 to 20 rows', grouped([1, 2, 4, 8, 12, 20] * 10, False), paired=True),
    Kind('4 of 200 rows are of a class', counted(4, 200, rare), 6000, missed, ranks),
    Kind('10 of 500 rows are of a class', counted(10, 500, rare), 6000, missed, ranks),
    Kind('1,000 rows, 2 % of a class', single(1000, rare), 6000, missed, paired=True),
    Kind('100 rows, AUC near 1', single(100, near_one)),
    Kind('four classes, 500 rows', single(500, several)),
    Kind('leaf models, 500 rows', single(500), options=('--preset', 'accurate')),
]


def read(path):
    with open(path) as f:
        return json.load(f)


def scored(document, features):
    """Probabilities, predicted class, billed cost and leaf of each row by tree.json."""
    judge = check_models.Judge()
    tree = check_models.Tree(document, judge)
    leaf, _, cost = tree.route(pa.table(features))
    p = tree.probabilities(leaf)
    if judge.found:
        raise RuntimeError(judge.found)
    return p, np.argmax(tree.losses(p) <= check_models.same, axis=1), cost, leaf


def figures(document, rows):
    """The true figures of a tree, given rows with their probabilities."""
    p, predicted, cost, _ = scored(document, rows.features())
    m = rows.mass()
    total, classes = m.sum(), range(m.shape[1])
    ranked = [1] if len(classes) == 2 else classes
    return {
        'AUC': float(np.mean([area(p[:, k], m[:, k], m.sum(axis=1) - m[:, k]) for k in ranked])),
        'accuracy': float(m[np.arange(len(m)), predicted].sum() / total),
        'balanced accuracy': float(np.mean([m[predicted == k, k].sum() / m[:, k].sum() for k in classes])),
        'log loss': float(-(m * np.log(np.clip(p, 1e-15, 1 - 1e-15))).sum() / total),
        'cost': float((m.sum(axis=1) * cost).sum() / total),
    }


trained = {}  # tree.json, its file and its true figures, by kind and options


def train(runs, kind, *options):
    """Trains a tree for rows of a kind. Returns tree.json, its file and its true figures."""
    key = kind.title, options
    if key not in trained:
        r = kind.draw(np.random.default_rng(0), kind.training)
        runs.write(r.features(), r.classes())
        own = [runs.text(o, errors) if o == 'errors.csv' else o for o in kind.options]
        tree = runs.train('--costs', runs.text('prices.csv', prices), *quick, *own, *options)[0]
        file = os.path.join(os.path.dirname(runs.folder), f'tree{len(trained)}.json')
        shutil.copy(os.path.join(runs.out, 'tree.json'), file)
        trained[key] = tree, file, figures(tree, kind.draw(np.random.default_rng(1), fresh))
    return trained[key]


def exchanged(value, a, b):
    """A document in which two names have changed places."""
    if isinstance(value, dict):
        return {k: exchanged(v, a, b) for k, v in value.items()}
    if isinstance(value, list):
        return [exchanged(v, a, b) for v in value]
    return {a: b, b: a}.get(value, value) if isinstance(value, str) else value


def save(runs, name, document):
    return runs.text(name, json.dumps(document))


def sample(kind, seed):
    return kind.draw(np.random.default_rng([seed, zlib.crc32(kind.title.encode())]))


def path(runs, name):
    return os.path.join(runs.folder, name)


def found(folder, *pattern):
    """The files below a folder that a pattern names, the oldest first."""
    return sorted(glob.glob(os.path.join(folder, *pattern)), key=os.path.getmtime)
