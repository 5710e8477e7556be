#!/usr/bin/env python3
"""Times Espalier against one LightGBM tree, as whole processes, in turn.

    bench/speed.py [--runs N] [DATASET ...]

Each side reads the Parquet files and trains: Espalier to a finished run folder
with metrics, the other side reads with pyarrow and trains one tree of 255
leaves on 63 bins (one_lightgbm.py). Prints the median of the wall-clock ratios
of neighbouring runs, and the peak memory. Needs the folder of data sets, and
Python; installs by pip what is missing.
"""

import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from needs import need

need('speed')

import datasets

here = os.path.dirname(os.path.abspath(__file__))
configs = {'paper': ['--preset', 'paper', '--algorithm', 'ec45', '--lambda', '100'], 'default': ['--preset', 'default']}


def run(argv):
    start = time.perf_counter()
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit(f'{argv}: {out}')
    return time.perf_counter() - start, usage.ru_maxrss / 1024, out


def lightgbm(folder):
    wall, rss, out = run([sys.executable, os.path.join(here, 'one_lightgbm.py'), folder])
    return wall, rss, json.loads(out.strip().splitlines()[-1])['auc']


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('sets', nargs='*', default=['covertype', 'bioresponse', 'dota2'])
    ap.add_argument('--runs', type=int, default=5)
    a = ap.parse_args()
    work = tempfile.mkdtemp()
    binary = os.path.join(work, 'espalier')
    subprocess.check_call(['go', 'build', '-o', binary, './cmd/espalier'], cwd=os.path.join(here, '..'))
    categorical = {name: row['categorical'] for name, row in datasets.manifest().items()}
    for name in a.sets:
        folder = os.path.join(datasets.folder, name)
        for config, flags in configs.items():
            ratios, ours, theirs, memory, their_memory = [], [], [], [], []
            for i in range(a.runs + 1):
                out = os.path.join(work, 'run')
                shutil.rmtree(out, ignore_errors=True)
                w, rss, _ = run(
                    [
                        binary,
                        'train',
                        '--input',
                        folder + '/*.parquet',
                        '--label',
                        'class',
                        '--output',
                        out,
                        '--categorical',
                        categorical[name],
                        '--progress',
                        'none',
                        *flags,
                    ]
                )
                v, their_rss, auc = lightgbm(folder)
                if i == 0:
                    continue  # warm-up
                ratios.append(w / v)
                ours.append(w)
                theirs.append(v)
                memory.append(rss)
                their_memory.append(their_rss)
                m = json.load(open(os.path.join(out, 'metrics.json')))['test']
            print(
                f'{name} {config}: ratio {statistics.median(ratios):.3f} '
                f'(min {min(ratios):.3f} max {max(ratios):.3f}); '
                f'espalier {statistics.median(ours):.3f} s, {max(memory):.0f} MB, '
                f'AUC {m["auc_ovr_macro"]:.4f} at cost {m["expected_cost"]:.2f}; '
                f'lightgbm {statistics.median(theirs):.3f} s, {max(their_memory):.0f} MB, AUC {auc:.4f}',
                flush=True,
            )
    shutil.rmtree(work)


main()
