"""What trust.py and truth.py share: synthetic rows with known class probabilities, and runs of Espalier on them."""

import glob, json, os, shutil, subprocess

import numpy as np
import pyarrow as pa, pyarrow.parquet as pq

plain = ['--certificate', 'none', '--report', 'none', '--progress', 'none']


def labelled(rng, p, no, yes):
    """Labels drawn with the probabilities p of yes."""
    return np.where(rng.uniform(size=len(p)) < p, yes, no)


def parts(rng, n):
    """The part of each row: 70 % training, 10 % validation and 20 % test rows."""
    names = np.array(['train'] * 7 + ['validation'] + ['test'] * 2)
    return rng.permutation(np.resize(names, n))


class Runs:
    """Runs of Espalier in a folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.input, self.out = os.path.join(folder, 'rows.parquet'), os.path.join(folder, 'run')

    def write(self, columns, label, name='rows.parquet'):
        file = os.path.join(self.folder, name)
        pq.write_table(pa.table(columns | {'label': label}), file)
        return file

    def text(self, name, content):
        file = os.path.join(self.folder, name)
        with open(file, 'w') as f:
            f.write(content)
        return file

    def call(self, *args):
        """Runs a verb. Returns its exit code, stdout and stderr."""
        ran = subprocess.run([self.binary, *args], capture_output=True, text=True)
        return ran.returncode, ran.stdout, ran.stderr

    def said(self, *args):
        """Runs a verb that must succeed. Returns its stdout."""
        code, out, err = self.call(*args)
        if code:
            raise RuntimeError(f'{" ".join(args)}: exit code {code}\n{err}')
        return out

    def train(self, *options):
        """Trains with the default preset. Returns tree.json, the test figures and frontier.json."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.text('said.txt', self.said('train', '--input', self.input, '--label', 'label', '--output', self.out, *plain, *options))
        return (
            self.load('tree.json'),
            self.load('metrics.json').get('test'),
            self.load('frontier.json') if glob.glob(os.path.join(self.out, 'frontier.json')) else None,
        )

    def evaluate(self, file, *options, model=None):
        """The figures of a tree on the rows of a file; model None: of the run's tree."""
        args = ['--model', model or self.out, '--input', file, '--json', '--progress', 'none', *options]
        return json.loads(self.said('evaluate', *args))['test']

    def load(self, name):
        with open(os.path.join(self.out, name)) as f:
            return json.load(f)
