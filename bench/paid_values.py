#!/usr/bin/env python3
"""Draws docs/paid_values.svg: what a model in a leaf makes of a value that is paid for.

    bench/paid_values.py [--espalier BINARY] [--output FILE]

4,000 made-up rows have an age, an income and a class whose probability rises with age.
Two trees may ask one question a row: one with plain leaves, one with leaf models. The
picture has the probability that each tree gives by age, and the true one. Needs Go, and
Python with numpy, pyarrow and matplotlib (installed by pip where they are missing).
"""

import argparse, os, sys

sys.dont_write_bytecode = True
from needs import need

need('paid_values')

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pictures import picture, write
from protocol import Espalier, load, root

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('--espalier', help='a binary to use instead of building one')
ap.add_argument('--output', default=os.path.join(root, 'docs', 'paid_values.svg'))
options = ap.parse_args()


def truth(age):
    """The probability of the class yes, but for income."""
    return 1 / (1 + np.exp(-(age - 58) / 8))


rng = np.random.default_rng(1)
age = np.round(20 + 70 * rng.beta(2, 2.5, 4000), 1)
yes = rng.random(4000) < truth(age)
rows = {'age': age, 'income': np.round(rng.lognormal(10, 0.5, 4000)), 'class': np.where(yes, 'yes', 'no')}

figure, axes = picture()
grid = np.arange(20, 90.01, 0.25)
axes.plot(grid, truth(grid), color='0.6', lw=6, alpha=0.5, label='truth')

with Espalier(options.espalier) as espalier:
    file, ages = os.path.join(espalier.work, 'rows.parquet'), os.path.join(espalier.work, 'ages.parquet')
    pq.write_table(pa.table(rows), file)
    pq.write_table(pa.table({'age': grid, 'income': np.full(len(grid), 22000.0)}), ages)
    for model, name, color in ('none', 'plain leaves', 'tab:orange'), ('linear', 'leaf models', 'tab:blue'):
        out, predicted = os.path.join(espalier.work, model), os.path.join(espalier.work, model + '-predicted')
        espalier.run('train', '--input', file, '--label', 'class', '--output', out, '--leaf_model', model,
                     '--max_expected_cost', '1')  # fmt: skip
        espalier.run('predict', '--model', out, '--input', ages, '--output', predicted)
        p = pq.read_table(os.path.join(predicted, 'ages.parquet'))['probability_yes'].to_numpy()
        test = load(out, 'metrics.json')['test']
        print(f'{name}: test AUC {test["auc_ovr_macro"]:.3f}, {test["expected_tests"]:g} tests a row')
        axes.plot(grid, p, color=color, lw=2, label=f'one question, {name}: AUC {test["auc_ovr_macro"]:.3f}')

axes.set_xlabel('age'), axes.set_ylabel('probability of yes'), axes.set_ylim(0, 1), axes.set_xlim(20, 90)
axes.legend(frameon=False, loc='upper left')
write(figure, options.output)
