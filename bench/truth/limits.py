"""Each limit, under each condition in which trees are chosen: kept, or refused."""

import os, shutil

import numpy as np

from . import rows, table

kept = {  # limits by name: what is given, and whether a tree keeps it
    'max_expected_cost': (1.5, lambda t: expected(t) <= 1.5 + 1e-9),
    'max_cost': (3, lambda t: max(paid for _, paid, _ in walk(t)) <= 3),
    'max_leaves': (3, lambda t: sum('test' not in n for n, _, _ in walk(t)) <= 3),
    'max_depth': (2, lambda t: max(depth for _, _, depth in walk(t)) <= 2),
    'min_rows': (80, lambda t: all(n['rows'] >= 80 for n, _, _ in walk(t) if 'test' in n)),
}
single = ['--algorithm', 'c45', '--tests', 'threshold', '--theta', '0.0005']
conditions = {
    'validation rows': [],
    'none: 100/0/0': ['--split', '100/0/0'],
    'a column of train and test': ['--split_column', 'part'],
    'folds 0': ['--folds', '0'],
    'folds 5, 100/0/0': ['--folds', '5', '--split', '100/0/0'],
    'no folds, 100/0/0': ['--folds', '0', '--split', '100/0/0'],
    'one tree, not pruned': [*single, '--prune', 'none'],
    'a fixed alpha': [*single, '--prune', 'leaves', '--alpha', '0.00001'],
    'a fixed alpha of costs': [*single, '--prune', 'cost', '--alpha', '0.00001'],
    'paper': ['--preset', 'paper'],
    'paper, selected': ['--preset', 'paper', '--select', 'paper', '--lambda', 'auto'],
    'accurate': ['--preset', 'accurate'],
    'select first': ['--select', 'first'],
    'select highest': ['--select', 'highest'],
    'select one_se': ['--select', 'one_se'],
    'select total': ['--select', 'total', '--error_costs', 'ERRORS'],
    'repeats are free': ['--repeat_cost', 'free'],
    'priors': ['--priors', 'a=.9,b=.1'],
    'weights': ['--weight', 'w'],
    'retrain': [],
    'frontier': [],
    'refit': [],
}


def walk(tree):
    """Yields each node, with what is paid and how many tests are asked on the way to it."""
    todo = [(0, 0, 0)]
    while todo:
        number, paid, depth = todo.pop()
        node = tree['nodes'][number]
        yield node, paid, depth
        test = node.get('test', {})
        todo += [(b['child'], paid + test.get('billed', test.get('cost')), depth + 1) for b in node.get('branches', [])]


def expected(tree):
    """The mean cost of the training rows."""
    return sum(n['weight'] * paid for n, paid, _ in walk(tree) if 'test' not in n) / tree['nodes'][0]['weight']


class Refused(Exception):
    """A verb has ended with an exit code and a message."""


def trained(runs, name, given):
    """Trains under a condition with the flags of a limit. Returns tree.json."""

    def call(verb, *args):
        code, _, err = runs.call(verb, *args, *given, '--progress', 'none')
        if code:
            raise Refused(code, err)

    plain = ['--input', runs.input, '--label', 'label', '--output', runs.out, '--overwrite', '--certificate', 'none', '--report', 'none']
    if name == 'retrain':
        out = rows.path(runs, 'nights' + ''.join(given))
        settings = [f'input: {runs.input}', 'label: label', f'destination: {out}', 'ignore: part,w', 'certificate: none', 'report: none']
        call('retrain', '--config', runs.text('night.yaml', '\n'.join(settings)), '--date', '2026-01-01')
        return rows.read(rows.found(out, 'runs', '*', 'tree.json')[-1])
    if name == 'frontier':
        runs.train('--ignore', 'part,w')
        if not given:
            return runs.load('tree.json')
        promoted = rows.path(runs, 'promoted')
        call('frontier', runs.out, '--output', promoted, '--overwrite')
        return rows.read(os.path.join(promoted, 'tree.json'))
    if name == 'refit':
        runs.train('--ignore', 'part,w')
        shutil.rmtree(rows.path(runs, 'first'), ignore_errors=True)
        os.replace(runs.out, rows.path(runs, 'first'))
        call('train', *plain, '--ignore', 'part,w', '--refit', rows.path(runs, 'first'))
        return runs.load('tree.json')
    errors = runs.text('errors.csv', 'actual,predicted,cost\na,b,5\nb,a,20\n')
    flags = [errors if f == 'ERRORS' else f for f in conditions[name]]
    call('train', *plain, '--ignore', ','.join(c for c in ('part', 'w') if c not in flags), *flags)
    return runs.load('tree.json')


def limits(runs, samples):
    """Trains under all conditions with all limits."""
    r = rows.single(400)(np.random.default_rng(1))
    part = np.where(np.arange(400) % 4 == 0, 'test', 'train')
    weight = np.random.default_rng(2).uniform(0.5, 2, 400)
    runs.write(r.features() | {'part': part, 'w': weight}, r.classes())
    beyond = dict.fromkeys(kept, 0)
    for name in conditions:
        free = trained(runs, name, [])
        seen = {'kept': [], 'refused': [], 'VIOLATED': [], 'failed': []}
        for limit, (value, holds) in kept.items():
            beyond[limit] += not holds(free)
            try:
                seen['kept' if holds(trained(runs, name, [f'--{limit}', str(value)])) else 'VIOLATED'].append(limit)
            except Refused as e:
                code, message = e.args
                seen['refused' if code == 2 and (limit in message or 'keeps the limits' in message) else 'failed'].append(limit)
        text = '; '.join(f'{what}: {", ".join(names)}' for what, names in seen.items() if names and what != 'kept')
        verdict = 'VIOLATED' if seen['VIOLATED'] else 'MISSED' if seen['failed'] else 'ok'
        table.line('limits', name, len(kept), text or 'all kept', 'kept or refused', verdict)
    for limit, n in beyond.items():  # else the limit would say nothing
        table.line(f'trees above {limit} without it', 'all conditions', len(conditions), str(n), 'at least 1', 'ok' if n else 'MISSED')
