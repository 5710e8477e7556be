"""Coverage of intervals, and size and power of comparisons."""

import json, math

import numpy as np

from . import rows, table

size = (0.03, 0.07)  # wanted share of equal trees that are said to differ


class Coverage:
    """Counts the intervals that contain the true figures."""

    def __init__(self, kind):
        self.kind, self.hits, self.all, self.sum = kind, {}, {}, {}

    def add(self, measured, truth):
        for name, true in truth.items():
            interval = measured['intervals'].get(rows.names[name])
            if interval is None or self.kind.only and name not in self.kind.only:
                continue
            self.all[name] = self.all.get(name, 0) + 1
            self.hits[name] = self.hits.get(name, 0) + (interval['low'] - 1e-9 <= true <= interval['high'] + 1e-9)
            self.sum[name] = self.sum.get(name, 0) + true

    def judge(self, of):
        for name, n in self.all.items():
            title = self.kind.title + (f' ({self.sum[name] / n:.3f})' if name == 'AUC' else '')
            table.share(f'{name} of {of} covers', title, self.hits[name], n, *rows.covered)


def evaluate(runs, samples):
    """Coverage by evaluate, a process for each sample."""
    for kind in rows.kinds:
        _, model, truth = rows.train(runs, kind)
        found = Coverage(kind)
        with table.attempt('evaluate', kind.title):
            for seed in range(samples):
                r = rows.sample(kind, seed)
                file = runs.write(r.columns(), r.classes(), 'new.parquet')
                found.add(runs.evaluate(file, *kind.flags(r), model=model), truth)
        found.judge('evaluate')


def slices(runs, samples):
    """Coverage by the slices of evaluate: a process for all samples, which are slices of 50 to a column."""
    for kind in rows.kinds:
        _, model, truth = rows.train(runs, kind)
        drawn = [rows.sample(kind, seed) for seed in range(samples)]
        at = np.repeat(np.arange(samples), [len(r.label) for r in drawn])
        columns = {name: np.concatenate([r.columns()[name] for r in drawn]) for name in drawn[0].columns()}
        if 'g' in columns:
            columns['g'] = np.char.add(np.char.add(at.astype(str), '-'), columns['g'])
        own = [f's{k}' for k in range(math.ceil(samples / 50))]
        for k, name in enumerate(own):
            columns[name] = np.where(at // 50 == k, np.char.add('n', at.astype(str)), None)
        file = runs.write(columns, np.concatenate([r.classes() for r in drawn]), 'new.parquet')
        found = Coverage(kind)
        with table.attempt('slices', kind.title):
            for s in runs.evaluate(file, '--slice', ','.join(own), *kind.flags(drawn[0]), model=model)['slices']:
                if s['of'] == 'value':
                    found.add(s, truth)
        found.judge('slices')


def training(runs, samples):
    """Coverage by the test part of train, whose tree is another one for each sample."""
    for title, draw in (
        ('1,500 equal rows', rows.single(1500)),
        ('1,500 rows, log-normal weights, sd 1', rows.single(1500, weigh=rows.lognormal(1))),
        ('150 groups of 10 rows of one class', rows.grouped([10] * 150, True)),
    ):
        kind = rows.Kind(title, draw)
        new = draw(np.random.default_rng(1), 50_000)
        found = Coverage(kind)
        for seed in range(samples):
            r = rows.sample(kind, seed)
            runs.write(r.columns(), r.classes())
            options = ['--algorithm', 'c45', '--select', 'first', '--folds', '0', '--teacher', 'none', '--max_leaves', '6', *kind.flags(r)]
            tree, test, _ = runs.train('--costs', runs.text('prices.csv', rows.prices), *options)
            found.add(test, rows.figures(tree, new))
        found.judge('train')


def compared(runs, a, b, r, kind):
    """The metrics of evaluate --against for two trees on rows."""
    file = runs.write(r.columns(), r.classes(), 'new.parquet')
    said = runs.said('evaluate', a, '--against', b, '--input', file, '--json', '--progress', 'none', *kind.flags(r))
    return json.loads(said)['metrics']


def compare(runs, samples):
    """Two trees that are equally good, because the columns x0 and x1 are exchanged."""
    for kind in rows.kinds:
        if not kind.paired:
            continue
        tree, a, _ = rows.train(runs, kind, '--forbid', 'x1')
        b = rows.save(runs, 'b.json', rows.exchanged(tree, 'x0', 'x1'))
        hits, n = {}, {}
        with table.attempt('compare', kind.title):
            for seed in range(samples):
                metrics = compared(runs, a, b, rows.sample(kind, seed), kind)
                for name in ('AUC', 'accuracy', 'log loss', 'cost'):
                    m = metrics.get(rows.names[name])
                    if m and m.get('interval'):
                        n[name] = n.get(name, 0) + 1
                        hits[name] = hits.get(name, 0) + (m['interval']['low'] > 0 or m['interval']['high'] < 0)
        for name in n:
            table.share(f'{name} of equal trees differs', kind.title, hits[name], n[name], *size)


def power(runs, samples):
    """Two trees of which one is better: evaluate --against finds it as often as a test by the true standard error of the
    difference would."""
    kind = rows.Kind('2,000 equal rows', rows.single(2000))
    (_, a, poor), (_, b, good) = rows.train(runs, kind, '--forbid', 'x2'), rows.train(runs, kind)
    gap = good['AUC'] - poor['AUC']
    hits, differences = 0, []
    for seed in range(samples):
        m = compared(runs, a, b, rows.sample(kind, seed), kind)['auc_ovr_macro']
        hits += m['interval']['low'] > 0
        differences.append(m['difference'])
    error = np.std(differences, ddof=1)
    ideal = 0.5 * (1 + math.erf((gap / error - 1.96) / math.sqrt(2)))
    table.share(f'an AUC higher by {gap:.3f} is found', kind.title, hits, samples, round(max(0, ideal - 0.05), 3), 1)


def gate(runs, samples):
    """Nights whose rows are of the same distribution: the share that each check of retrain refuses."""
    for title, draw, keyed in (
        ('nights of 1,000 rows', rows.single(1000), False),
        ('nights of 200 groups of 10 rows of one class, key', rows.grouped([10] * 200, True), True),
    ):
        kind, folder = rows.Kind(title, draw), rows.path(runs, 'keyed' if keyed else 'plain')
        settings = ['select: first', 'folds: 0', 'teacher: none', 'max_leaves: 6', 'keep_runs: 1', 'certificate: none', 'report: none']
        config = runs.text('night.yaml', '\n'.join([
            f'input: {rows.path(runs, "night.parquet")}', 'label: label', f'destination: {folder}', *settings,
            *(['group: g'] if keyed else [])]))
        refused, nights = {}, 0
        for seed in range(samples + 1):
            r = rows.sample(kind, seed)
            runs.write(r.columns(), r.classes(), 'night.parquet')
            day = str(np.datetime64('2026-01-01') + seed)
            code, _, err = runs.call('retrain', '--config', config, '--date', day, '--progress', 'none')
            if code not in (0, 4):
                raise RuntimeError(err)
            checks = rows.read(rows.found(folder, 'history', '*.json')[-1])['checks']
            if seed == 0:
                continue  # nothing is in use yet
            nights += 1
            refused['any check'] = refused.get('any check', 0) + (code == 4)
            for name in {c['check'] for c in checks}:
                bad = any(c['check'] == name and not c['passed'] for c in checks)
                refused[name] = refused.get(name, 0) + bad
        for name in sorted(refused):
            if refused[name] or name in ('any check', 'max_auc_fall', 'gate_metrics'):
                table.share(f'{name} refuses', title, refused[name], nights, 0, size[1])
