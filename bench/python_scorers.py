#!/usr/bin/env python3
"""Times the scorers of a tree in Python on the same rows.

    bench/python_scorers.py [--sets NAME,..] [--rows 100000,1000,1] [--runs 11] [--espalier BIN]

For each data set a plain tree and a tree with boosted leaf models are trained. Then batches of rows
are scored, in turn, RUNS times:

- package: Tree.predictions of the package in python, on a dictionary of numpy columns;
- export: predict of the exported Python module, row by row, on dictionaries (at most 1,000 rows);
- onnx: the exported ONNX model by onnxruntime, one thread, on prepared inputs.

All predict the same leaves and, within 1e-12, the same probabilities, or the script fails. Prints
the median processor time of the package in us per row, and the medians over the runs of the ratios
of the other scorers to it. Above 1 the package is faster. Needs the data sets, Go and Python;
installs by pip what is missing of numpy, onnxruntime, pandas and pyarrow.
"""

import argparse, importlib.util, json, os, statistics, sys, time

sys.dont_write_bytecode = True
from needs import need

need('python_scorers')

import numpy as np
import onnxruntime
import pyarrow as pa, pyarrow.parquet as pq

from protocol import Espalier, data_sets, root, table

sys.path.insert(0, os.path.join(root, 'python'))
from espalier import Tree

row_by_row = 1000  # the most rows that the exported module scores in a run


def exported(espalier, run):
    """The exported Python module, and a session of the exported ONNX model."""
    module, model = os.path.join(espalier.work, 'tree.py'), os.path.join(espalier.work, 'tree.onnx')
    espalier.run('export', run, '--format', 'python', '--output', module, '--overwrite')
    espalier.run('export', run, '--format', 'onnx', '--output', model, '--overwrite')
    spec = importlib.util.spec_from_file_location('tree', module)
    loaded = sys.modules['tree'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    one = onnxruntime.SessionOptions()
    one.intra_op_num_threads = one.inter_op_num_threads = 1
    return loaded, onnxruntime.InferenceSession(model, one, providers=['CPUExecutionProvider'])


def inputs(session, rows):
    """The inputs of the ONNX model for a frame."""
    feed = {}
    for f in json.loads(session.get_modelmeta().custom_metadata_map['features']):
        column = rows[f['name']]
        if f['type'] == 'text':
            column = column.astype(object).where(column.notna(), f['missing']).to_numpy(object)
        feed[f['input']] = np.array(column, object if f['type'] == 'text' else float).reshape(-1, 1)
    return feed


def timed(score):
    """The processor time of a call in seconds, and its result."""
    start = time.process_time()
    result = score()
    return time.process_time() - start, result


def compare(tree, module, session, frame, runs):
    """us per row of the package, and the ratios of the other scorers, as medians."""
    names = list(tree.feature_names_in_)
    columns = {name: frame[name].to_numpy() for name in names}
    rows = frame[names].head(row_by_row).to_dict('records')
    feed, n = inputs(session, frame), len(frame)
    repeats = max(1, 2000 // n)  # a time of microseconds needs many calls

    def onnx():
        return session.run(None, feed)

    ours, exports, onnxs = [], [], []
    for run in range(runs + 1):
        a, got = timed(lambda: [tree.predictions(columns) for _ in range(repeats)][0])
        b, single = timed(lambda: [[module.predict(row) for row in rows] for _ in range(repeats)][0])
        c, (_, probabilities, leaves, *_) = timed(lambda: [onnx() for _ in range(repeats)][0])
        if run == 0:  # a warm-up, which is checked
            same = np.array_equal(got.leaf, leaves) and np.allclose(got.probabilities, probabilities, 0, 1e-12)
            if not same or [p.leaf for p in single] != got.leaf[: len(rows)].tolist():
                sys.exit('the scorers differ')
            continue
        ours.append(a / n)
        exports.append(b / len(rows) / (a / n))
        onnxs.append(c / a)
    return statistics.median(ours) / repeats * 1e6, statistics.median(exports), statistics.median(onnxs)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--sets', type=lambda s: s.split(','), default=['credit-g', 'mushroom', 'electricity'])
    ap.add_argument('--rows', type=lambda s: [int(n) for n in s.split(',')], default=[100_000, 1000, 1])
    ap.add_argument('--runs', type=int, default=11)
    ap.add_argument('--espalier')
    options = ap.parse_args()
    lines = []
    with Espalier(options.espalier) as espalier:
        for data in data_sets(options.sets, of_paper=False):
            every = pa.concat_tables([pq.read_table(f) for f in data.files]).to_pandas()
            for model in 'none', 'boosted':
                run = espalier.train(
                    data, data.files, '--select', 'first', '--certificate', 'none', '--folds', '0', '--leaf_model', model
                )
                tree = Tree.from_run(run)
                module, session = exported(espalier, run)
                for n in options.rows:
                    drawn = every.sample(n, replace=True, random_state=1).reset_index(drop=True)
                    us, export, onnx = compare(tree, module, session, drawn, options.runs)
                    leaves = int((~tree.document.splits.inner).sum())
                    lines.append([data.name, model, leaves, n, f'{us:.2f}', f'{export:.2f}', f'{onnx:.2f}'])
                    print(data.name, model, n, 'done', file=sys.stderr, flush=True)
    table(['data set', 'leaf model', 'leaves', 'rows', 'us per row', 'export / package', 'onnx / package'], lines)


main()
