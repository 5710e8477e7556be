"""The common part of budgets.py, peers.py and predict.py: the data sets, the published points,
training with the binary, and the budget query.

A Point is a tree: its expected cost (or number of tests) on the training rows, and
its area under the ROC curve on validation and test rows, one class against the rest,
averaged over the classes. For a point of the frontier the merit takes the place of
the validation area: the two are equal or, on small data, the merit is the mean of the
area and of the area on folds of the training rows. The answer to a budget query is the
point within the budget that is best on validation. Test figures take no part in it.
"""

import argparse, csv, dataclasses, json, os, shutil, subprocess, sys, tempfile

import numpy as np

import datasets

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, '..')

# frontier.json leaves out trees that are better by less than a step; a fine one
# gives the answers of --max_expected_cost without a training for each budget.
fine = ['--frontier_step', '0.0002']

# A share of .005 of iris is less than a row: its theta is four times as large.
coarse = {'iris': ['--theta', '0.02,0.004']}


@dataclasses.dataclass
class Point:
    cost: float
    validation: float
    test: float
    name: str = ''


leaf = Point(0.0, 0.5, 0.5, 'leaf')  # the tree without a test, within every budget


def query(points, budget):
    """The point of the largest validation area within the budget; of equals the cheapest."""
    return max((p for p in [leaf, *points] if p.cost <= budget), key=lambda p: (p.validation, -p.cost))


def oracle(points, budget):
    """The point of the largest test area within the budget, to see how much the choice loses."""
    return max((p for p in [leaf, *points] if p.cost <= budget), key=lambda p: p.test)


@dataclasses.dataclass
class DataSet:
    name: str
    categorical: str
    published: list  # Points with the published test area

    @property
    def files(self):
        return datasets.files(self.name)


def arguments(doc):
    """The parser of the options that the comparisons have in common."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=[])
    ap.add_argument('--splits', type=int, default=5)
    ap.add_argument('--espalier', help='a binary to use instead of building one')
    ap.add_argument('--preset', default='default')
    ap.add_argument('--csv')
    return ap


def splits(options, of_paper=True):
    """Yields each data set with each seed of its split, and tells when one is done."""
    for data in data_sets(options.sets, of_paper):
        for seed in range(1, options.splits + 1):
            yield data, seed
            print(f'{data.name} split {seed} done', file=sys.stderr, flush=True)


def data_sets(names, of_paper=True):
    """The data sets in bench/data: of the paper or all, and only the named ones, if any are."""
    table = list(csv.DictReader(open(datasets.published)))
    points = {row['dataset']: published(row) for row in table}
    sets = [
        DataSet(name, row['categorical'], points.get(row['paper_name'], []))
        for name, row in datasets.manifest().items()
        if datasets.files(name)
    ]
    if unknown := set(names) - {s.name for s in sets}:
        sys.exit(f'--sets {",".join(sorted(unknown))}: not in bench/data: see bench/datasets.py')
    return [s for s in sets if (s.published or not of_paper) and (not names or s.name in names)]


def published(row):
    points = []
    for pruned in '', ' (ccp)':
        for name in 'C4.5', 'EC4.5', 'CART', 'ECART', 'ASR', 'IP', 'Bal':
            if area := row[f'ROC AUC{pruned}:{name}']:
                points.append(Point(float(row[f'Cost{pruned}:{name}']), np.nan, float(area), name + pruned))
    return points


class Espalier:
    """The binary of this checkout (or another), and a folder for its runs."""

    def __init__(self, binary=None, preset='default'):
        self.work = tempfile.mkdtemp()
        self.preset = preset
        self.binary = binary or os.path.join(self.work, 'espalier')
        if not binary:
            subprocess.check_call(['go', 'build', '-o', self.binary, './cmd/espalier'], cwd=root)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work)

    def run(self, *argv):
        done = subprocess.run([self.binary, *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f'espalier {" ".join(argv)}\n{done.stdout}')

    def experiments(self, folder, output, *flags):
        """The results of the paper's experiments on a folder of data sets, by the program in experiments."""
        binary = os.path.join(self.work, 'experiments')
        if not os.path.exists(binary):
            subprocess.check_call(['go', 'build', '-o', binary, '.'], cwd=os.path.join(here, 'experiments'))
        subprocess.check_call([binary, folder, '--output', output, *flags], stdout=subprocess.DEVNULL)
        return load(output, 'results.json')

    def train(self, data, files, *flags):
        """Trains, and returns the run folder. The next training overwrites it."""
        out = os.path.join(self.work, 'run')
        shutil.rmtree(out, ignore_errors=True)
        self.run(
            'train',
            '--input',
            ','.join(files),
            '--label',
            'class',
            '--output',
            out,
            '--progress',
            'none',
            '--categorical',
            data.categorical,
            *flags,
        )
        return out

    def frontier(self, data, files, *flags):
        """The points of a run with the preset, and its folder."""
        out = self.train(data, files, '--preset', self.preset, *fine, *coarse.get(data.name, []), *flags)
        found = load(out, 'frontier.json')['points']
        return [Point(p['expected_cost'], p['merit'], p['test']['auc'], p['tree']) for p in found], out

    def measure(self, folder, tree, part):
        """Metrics of a tree of a run folder on the rows of PART.parquet."""
        self.run(
            'evaluate',
            '--model',
            os.path.join(folder, tree),
            '--input',
            os.path.join(self.work, f'{part}.parquet'),
            '--output',
            os.path.join(self.work, 'metrics.json'),
            '--overwrite',
            '--progress',
            'none',
        )
        return load(self.work, 'metrics.json')['test']


def load(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def table(header, rows):
    """Markdown, figures to the right."""
    print('| ' + ' | '.join(header) + ' |')
    print('|' + '|'.join([' --- '] + [' ---: '] * (len(header) - 1)) + '|')
    for row in rows:
        print('| ' + ' | '.join(map(str, row)) + ' |')
    print(flush=True)


def save(file, rows):
    """Writes rows (dicts of the same keys) as CSV, if a file is given."""
    if file and rows:
        with open(file, 'w', newline='') as f:
            w = csv.DictWriter(f, rows[0].keys())
            w.writeheader()
            w.writerows(rows)
