#!/usr/bin/env python3
"""Compares pruning by leaves with scikit-learn's, tree by tree.

    bench/pruning.py [DATASET ...]

Trains trees with the binary on bench/data, builds each once more as a tree
of scikit-learn (the same nodes; impurities computed here from the raw class
weights), and prunes it by scikit-learn's ccp_pruning_path. Alphas and impurities
of the whole sequence must agree to 1e-9. The number of leaves must be the same when
scikit-learn prunes at an alpha between each two. scikit-learn cuts nodes with tied
alphas one after the other: its entries within 1e-9 of each other are one entry of
ours. Needs the data sets, and Python with numpy and scikit-learn
(installed by pip where they are missing).
"""

import json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from needs import need

need('pruning')

import numpy as np, sklearn
from sklearn.tree._tree import NODE_DTYPE, Tree, _build_pruned_tree_ccp, ccp_pruning_path

import datasets

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, '..')
sets = [
    'iris',
    'breast-w',
    'credit-g',
    'ilpd',
    'tic-tac-toe',
    'phoneme',
    'spambase',
    'electricity',
    'firewall',
    'bank-marketing',
]
close = 1e-9


def impurity(weights, gini):
    p = weights / weights.sum()
    return 1 - (p * p).sum() if gini else -(p[p > 0] * np.log2(p[p > 0])).sum()


def rebuild(model):
    """The tree.json as a tree of scikit-learn; feature and threshold do not matter to pruning."""
    gini = model['algorithm']['name'] in ('cart', 'ecart', 'ccart')
    classes, n = len(model['label']['classes']), len(model['nodes'])
    nodes, values, depth = np.zeros(n, dtype=NODE_DTYPE), np.zeros((n, 1, classes)), np.zeros(n, dtype=int)
    for i, node in enumerate(model['nodes']):
        weights = np.array(node['raw_class_weights'], dtype=float)
        values[i, 0] = weights / weights.sum()
        children = [b['child'] for b in node.get('branches', [])] or [-1, -1]
        assert len(children) == 2, 'scikit-learn has no multiway tests'
        for c in children:
            if c > 0:
                depth[c] = depth[i] + 1
        nodes[i] = (*children, 0 if children[0] > 0 else -2, 0, impurity(weights, gini), node['rows'], weights.sum(), 0)
    tree = Tree(1, np.array([classes], dtype=np.intp), 1)
    tree.__setstate__({'max_depth': int(depth.max()), 'node_count': n, 'nodes': nodes, 'values': values})
    return tree


def leaves_at(tree, classes, alpha):
    pruned = Tree(1, np.array([classes], dtype=np.intp), 1)
    _build_pruned_tree_ccp(pruned, tree, alpha)
    return pruned.n_leaves


def steps(path):
    """scikit-learn's path, the un-pruned tree first, entries that tie as one."""
    out = [[0.0, path['impurities'][0]]]
    for i, (alpha, risk) in enumerate(zip(path['ccp_alphas'][1:], path['impurities'][1:])):
        alpha = 0.0 if alpha < 1e-12 else alpha
        if len(out) > 1 and alpha <= out[-1][0] * (1 + close):
            out[-1][1] = risk
        else:
            out.append([alpha, risk])
    return np.array(out)


def compare(model, ours):
    tree = rebuild(model)
    theirs = steps(ccp_pruning_path(tree))
    a, r = np.array([s['alpha'] for s in ours]), np.array([s['risk'] for s in ours])
    if len(ours) != len(theirs):
        return f'{len(ours)} steps, scikit-learn has {len(theirs)}', 0, 0
    wrong = ''
    for k in range(1, len(ours)):
        if k + 1 < len(ours) and a[k + 1] <= a[k] * (1 + 4 * close):
            continue  # no room for an alpha between
        between = (a[k] + a[k + 1]) / 2 if k + 1 < len(ours) else 2 * a[k] + 1
        if (n := leaves_at(tree, len(model['label']['classes']), between)) != ours[k]['leaves']:
            wrong = f'step {k} has {ours[k]["leaves"]} leaves, scikit-learn {n}'
    alpha, risk = abs(a - theirs[:, 0]).max(), abs(r - theirs[:, 1]).max()
    if max(alpha, risk) > close:
        wrong = 'too far'
    return wrong, alpha, risk


def main():
    names = sys.argv[1:] or sets
    categorical = {name: row['categorical'] for name, row in datasets.manifest().items()}
    work = tempfile.mkdtemp()
    failed = 0
    try:
        espalier, sequence = os.path.join(work, 'espalier'), os.path.join(work, 'sequence')
        subprocess.check_call(['go', 'build', '-o', espalier, './cmd/espalier'], cwd=root)
        subprocess.check_call(['go', 'build', '-o', sequence, './bench/sequence'], cwd=root)
        print('scikit-learn', sklearn.__version__)
        for name in names:
            for algorithm in 'c45', 'cart':
                for theta in '0', '0.005':
                    run = os.path.join(work, 'run')
                    shutil.rmtree(run, ignore_errors=True)
                    subprocess.check_output(
                        [
                            espalier,
                            'train',
                            '--input',
                            os.path.join(datasets.folder, name, '*.parquet'),
                            '--label',
                            'class',
                            '--output',
                            run,
                            '--categorical',
                            categorical[name],
                            '--split',
                            '100/0/0',
                            '--progress',
                            'none',
                            '--algorithm',
                            algorithm,
                            '--theta',
                            theta,
                            '--tests',
                            'threshold',
                            '--leaf_estimate',
                            'raw',
                        ]
                    )
                    file = os.path.join(run, 'tree.json')
                    model = json.load(open(file))
                    ours = json.loads(subprocess.check_output([sequence, 'leaves', file]))
                    wrong, alpha, risk = compare(model, ours)
                    failed += bool(wrong)
                    print(
                        f'{"FAIL" if wrong else "ok  "} {name} {algorithm} theta {theta}: '
                        f'{len(model["nodes"])} nodes, {len(ours)} steps, '
                        f'alphas within {alpha:.1e}, impurities within {risk:.1e} {wrong}',
                        flush=True,
                    )
    finally:
        shutil.rmtree(work)
    sys.exit(failed > 0)


main()
