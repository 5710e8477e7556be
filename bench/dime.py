#!/usr/bin/env python3
"""AUC if at most k features may be bought for each row: the preset accurate against DIME, by Gadgil, Covert and Lee.

    bench/dime.py [FOLDER] [--sets NAME,..] [--splits 2] [--limits 1,2,3,4,6,8] [--preset accurate] [--csv FILE]

FOLDER, bench/data by default, has a MANIFEST.tsv and the files of a set as NAME/*.parquet. Each set is split into
70/10/20 by each seed, the same for both sides. Espalier trains for each limit, with --max_cost; DIME trains once and
answers with the number of features within the limit that is best on validation rows. The table has the average AUC on
test rows, and the difference with its standard error over the splits.

DIME, "Estimating Conditional Mutual Information for Dynamic Feature Selection" (ICLR 2024), buys for each row the
feature whose value is estimated to lower the log loss the most. Two networks see the bought values and which they are:
a predictor, and an estimator of the decrease for each feature. The predictor learns first, with random sets of
features; then both learn while they buy, from the predictor's own losses. The settings are those of the repository
suinleelab/DIME for its tables of patients (experiments/intub, experiments/ROSMAP_dementia):

- two hidden layers of 128 units, ReLU, dropout .3; Adam with rate .001, batches of 128; the estimate is a softplus;
- the rate is multiplied by .2 when the validation loss has not improved, by one part in 10,000, for more than 2 epochs
  (first phase) or 5 (second phase), but not below .000001;
- the first phase ends after 200 epochs, or 4 without an improvement; the second after 100, or ten decreases of the
  share of random purchases: .1 first, multiplied by .2 after 7 epochs without an improvement, with the rate set back.

What is different, and why: 8 features are bought in training, as these sets have fewer features (16 and 41) and nothing
beyond 8 is asked (there 40 of 45, and 15); values are divided by their standard deviation, which balances in euros
need; categories are indicators and a missing number has an indicator, all bought with their feature; the epoch with the
highest validation AUC, averaged over 0 to 8 features, is kept (theirs: the highest with all, or the least mean
loss); 32-bit floats instead of 16; JAX instead of PyTorch, whose package for Linux needs 2 GB of libraries for graphics
processors.
"""

import functools, glob, itertools, os, sys, types

sys.dont_write_bytecode = True
from needs import need

need('dime')

import jax, jax.numpy as jnp
import numpy as np

import datasets, rivals
from protocol import Espalier, arguments, load, save, table

hidden, dropout, batch, first_rate, least_rate = 128, 0.3, 128, 1e-3, 1e-6
bought = 8  # features that are bought in training


def inputs(split):
    """The rows as numbers of mean 0 and deviation 1, and which feature each column is bought with."""
    columns, owner, train = [], [], split.rows['train']
    for i, c in enumerate(split.frame):
        if c in split.codes:
            own = [split.codes[c] == v for v in range(split.codes[c].max() + 1)]
        else:
            x = split.frame[c].to_numpy(float, na_value=np.nan)
            own = [np.where(np.isnan(x), np.nanmean(x[train]), x)] + [np.isnan(x)] * bool(np.isnan(x).any())
        columns, owner = columns + own, owner + [i] * len(own)
    x = np.stack(columns, 1).astype('float32')
    mean, deviation = x[train].mean(0), x[train].std(0)
    return (x - mean) / np.where(deviation > 0, deviation, 1), np.eye(split.frame.shape[1], dtype='float32')[owner].T


def network(key, *sizes):
    """Weights and offsets, uniform within the inverse root of a layer's inputs, as in PyTorch."""
    keys, layers = jax.random.split(key, 2 * len(sizes)), []
    for i, (n, m) in enumerate(itertools.pairwise(sizes)):
        draw = functools.partial(jax.random.uniform, minval=-(n**-0.5), maxval=n**-0.5)
        layers.append((draw(keys[2 * i], (n, m)), draw(keys[2 * i + 1], (m,))))
    return layers


def apply(layers, x, key=None):
    """The outputs; with a key, units drop out."""
    for i, (w, b) in enumerate(layers[:-1]):
        x = jax.nn.relu(x @ w + b)
        if key is not None:
            kept = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - dropout, x.shape)
            x = jnp.where(kept, x / (1 - dropout), 0)
    return x @ layers[-1][0] + layers[-1][1]


def losses(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1)[:, 0]


def shown(x, mask, owners):
    return jnp.concatenate([x * (mask @ owners), mask], 1)


def with_random_sets(networks, x, y, owners, key, share, drops=True):
    """The predictor's loss where a random number of features is known; share has no effect."""
    k = jax.random.split(key, 3)
    mask = (jax.random.uniform(k[0], (len(x), len(owners))) > jax.random.uniform(k[1], (len(x), 1))).astype(x.dtype)
    return losses(apply(networks['predictor'], shown(x, mask, owners), k[2] if drops else None), y).mean()


def while_buying(networks, x, y, owners, key, share):
    """The losses of both networks, averaged over the purchases, of which a share is random."""

    def buy(state, key):
        mask, before = state
        k = jax.random.split(key, 4)
        value = jax.nn.softplus(apply(networks['estimator'], shown(x, mask, owners), k[0]))
        random = jax.random.randint(k[1], (len(x),), 0, len(owners))
        at = jnp.where(jax.random.uniform(k[2], (len(x),)) > share, value.argmax(1), random)
        mask = jnp.maximum(mask, jax.nn.one_hot(at, len(owners)))
        after = losses(apply(networks['predictor'], shown(x, mask, owners), k[3]), y)
        decrease = before - jax.lax.stop_gradient(after)
        error = (jnp.take_along_axis(value, at[:, None], 1)[:, 0] - decrease) ** 2
        return (mask, jax.lax.stop_gradient(after)), error.mean() + after.mean()

    keys, mask = jax.random.split(key, bought + 1), jnp.zeros((len(x), len(owners)))
    start = losses(apply(networks['predictor'], shown(x, mask, owners), keys[0]), y)
    _, steps = jax.lax.scan(buy, (mask, jax.lax.stop_gradient(start)), keys[1:])
    return (start.mean() + steps.sum()) / (bought + 1)


@functools.partial(jax.jit, static_argnames='loss')
def epoch(loss, state, x, y, owners, key, rate, share):
    """Adam's steps over batches; the state has the networks, both moments and the number of steps."""

    def step(state, given):
        networks, m, v, t = state
        g = jax.grad(loss)(networks, *given[:2], owners, given[2], share)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        scaled = lambda p, m, v: p - rate * m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return (jax.tree.map(scaled, networks, m, v), m, v, t), None

    return jax.lax.scan(step, state, (x, y, jax.random.split(key, len(x))))[0]


@jax.jit
def answers(networks, x, owners):
    """The logits after 0, 1, .. purchases, none of them twice."""

    def buy(mask, _):
        seen = shown(x, mask, owners)
        at = (apply(networks['estimator'], seen) - 1e6 * mask).argmax(1)
        return jnp.maximum(mask, jax.nn.one_hot(at, len(owners))), apply(networks['predictor'], seen)

    return jax.lax.scan(buy, jnp.zeros((len(x), len(owners))), None, bought + 1)[1]


class Plateau:
    """A rate that falls when a loss no longer improves, and for how many epochs it has not."""

    def __init__(self, patience):
        self.patience, self.rate, self.best, self.waited, self.worse = patience, first_rate, np.inf, 0, 0

    def see(self, loss):
        if loss < self.best * (1 - 1e-4):
            self.best, self.waited, self.worse = loss, 0, 0
            return
        self.waited, self.worse = self.waited + 1, self.worse + 1
        if self.waited > self.patience:
            self.rate, self.waited = max(least_rate, 0.2 * self.rate), 0


def dime(split, seed):
    """The areas on validation and test rows after 0, 1, .. purchases."""
    rng = np.random.default_rng(seed)
    keys = (jax.random.fold_in(jax.random.key(seed), i) for i in itertools.count())
    x, owners = inputs(split)
    part = {p: (x[split.rows[p]], split.labels(p)) for p in rivals.parts}
    sizes = len(owners) + x.shape[1], hidden, hidden
    outputs = dict(predictor=len(split.classes), estimator=len(owners))
    networks = {name: network(next(keys), *sizes, n) for name, n in outputs.items()}

    def trained(loss, networks, rate, share, state=None):
        order = rng.permutation(len(part['train'][1]))
        order = order[: len(order) // batch * batch].reshape(-1, batch)
        zero = jax.tree.map(jnp.zeros_like, networks)
        given = (a[order] for a in part['train'])
        return epoch(loss, state or (networks, zero, zero, 0.0), *given, owners, next(keys), rate, share)

    def areas(networks, p):
        probabilities = np.asarray(jax.nn.softmax(answers(networks, part[p][0], owners)))
        return np.array([rivals.row_area(q, part[p][1]) for q in probabilities])

    validation, state, plateau = part['validation'], None, Plateau(2)
    for _ in range(200):
        state = trained(with_random_sets, networks, plateau.rate, 0.0, state)
        plateau.see(float(with_random_sets(state[0], *validation, owners, next(keys), 0.0, drops=False)))
        if plateau.worse > 3:
            break
    networks, state, plateau, share, decreases, best = state[0], None, Plateau(5), 0.1, 0, -np.inf
    for _ in range(100):
        state = trained(while_buying, networks, plateau.rate, share, state)
        logits = answers(state[0], validation[0], owners)
        plateau.see(float(np.mean([losses(q, validation[1]).mean() for q in logits])))
        if (found := areas(state[0], 'validation')).mean() > best:
            best, kept = found.mean(), state[0]
        if plateau.worse > 6:
            share, decreases, plateau.rate, plateau.worse = 0.2 * share, decreases + 1, first_rate, 0
            if decreases == 10:
                break
    return areas(kept, 'validation'), areas(kept, 'test')


def main():
    ap = arguments(__doc__)
    ap.set_defaults(splits=2, preset='accurate')
    ap.add_argument('folder', nargs='?', default=datasets.folder)
    ap.add_argument('--limits', type=lambda s: [int(k) for k in s.split(',')], default=[1, 2, 3, 4, 6, 8])
    options = ap.parse_args()
    if max(options.limits) > bought:
        ap.error(f'--limits: DIME buys at most {bought} features')
    manifest = datasets.manifest(options.folder)
    there = [n for n in manifest if glob.glob(os.path.join(options.folder, n, '*.parquet'))]
    if unknown := set(options.sets) - set(there):
        ap.error(f'--sets {",".join(sorted(unknown))}: not in {options.folder}')
    rows = []
    with Espalier(options.espalier, options.preset) as espalier:
        for name, seed in itertools.product(options.sets or there, range(1, options.splits + 1)):
            files = sorted(glob.glob(os.path.join(options.folder, name, '*.parquet')))
            data = types.SimpleNamespace(name=name, categorical=manifest[name]['categorical'], files=files)
            split = rivals.Split(data, seed)
            file = rivals.write_parts(split, espalier.work)
            validation, test = dime(split, seed)
            for k in options.limits:
                own = ['--split', 'part', '--certificate', 'none', '--report', 'none', '--max_cost', str(k)]
                run = espalier.train(data, [file], '--preset', options.preset, *own)
                theirs = test[validation[: k + 1].argmax()]
                ours = load(run, 'metrics.json')['test']['auc_ovr_macro']
                rows.append(dict(set=name, split=seed, limit=k, espalier=ours, dime=theirs, dime_at=test[k]))
                print(*rows[-1].values(), file=sys.stderr, flush=True)
                save(options.csv, rows)
    report(rows)


def report(rows):
    found, lines = {}, []
    for r in rows:
        found.setdefault((r['set'], r['limit']), []).append((r['espalier'], r['dime']))
    for (name, k), pairs in found.items():
        d = np.subtract(*np.transpose(pairs))
        error = f'{d.std(ddof=1) / len(d) ** 0.5:.4f}' if len(d) > 1 else ''
        lines.append([name, k, *(f'{a:.4f}' for a in np.mean(pairs, 0)), f'{d.mean():+.4f}', error])
    table(['set', 'at most', 'Espalier', 'DIME', 'difference', 'standard error'], lines)


if __name__ == '__main__':
    main()
