#!/usr/bin/env python3
"""Measures how time and memory grow with the shape of the data.

    bench/shapes.py [--binary FILE] [--shapes rows,columns,..] [--sizes N] [--most SHARE] [--presets single,default]

Each shape is made at several sizes, each twice the one before, and trained on as
whole processes: with one tree of the paper's preset, by default and, if asked, by `accurate`. Prints wall
time, processor time and peak memory of each run, then the slopes of the logarithms
of processor time and peak memory against the logarithm of the size, by least squares,
each with its 95 % interval. A slope of 1 is growth in proportion; a constant part
makes it smaller. Never fails because of a figure. Needs Python; installs by pip what
is missing.

The largest sizes:
    rows        1,000,000 nearly distinct rows of 20 numbers
    columns     2,000 rows of 10,000 numbers
    classes     100,000 rows of 10 numbers in 1,000 classes
    categories  1,000,000 rows of 4 texts, with up to 1,000,000 values in each column
    groups      5,000 row groups of 100 rows
    group       10,000,000 rows of 10 numbers in one row group
"""

import argparse, json, math, os, shutil, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from needs import need

need('shapes')

here = os.path.dirname(os.path.abspath(__file__))
presets = {'single': ['--preset', 'paper', '--algorithm', 'ec45', '--lambda', '100'], 'default': [], 'accurate': ['--preset', 'accurate']}
largest = {
    'rows': 1_000_000,
    'columns': 10_000,
    'classes': 1000,
    'categories': 1_000_000,
    'groups': 5000,
    'group': 10_000_000,
}


def table(rows, columns, classes=2):
    """Distinct numbers, with a label that four columns give, with noise."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(rows * 31 + columns)
    data = {f'x{i}': rng.random(rows, np.float32) for i in range(columns)}
    score = sum(data[f'x{i % columns}'] for i in range(4)) + rng.normal(0, 0.1, rows)
    rank = np.argsort(np.argsort(score))
    data['class'] = pa.array((rank * classes // rows).astype(np.int32))
    return pa.table(data)


def texts(rows, columns, categories):
    """Texts, with a label that all columns give, with noise."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(categories)
    data, score = {}, rng.normal(0, 0.3, rows)
    for i in range(columns):
        codes = (categories * rng.random(rows) ** 6).astype(np.int32)  # few values are frequent
        score += (codes % 7 < 3) / (i + 1)
        names = pa.array([f'value {k * 7919 % 1_000_003:07d}' for k in range(categories)])
        data[f'x{i}'] = pa.DictionaryArray.from_arrays(pa.array(codes), names).cast(pa.string())
    data['class'] = pa.array((score > np.median(score)).astype(np.int32))
    return pa.table(data)


def make(shape, size, folder):
    """Writes the data set of a shape and a size."""
    import pyarrow.parquet as pq

    group = 100_000
    if shape == 'rows':
        t = table(size, 20)
    elif shape == 'columns':
        t = table(2000, size)
    elif shape == 'classes':
        t = table(100_000, 10, classes=size)
    elif shape == 'categories':
        t = texts(1_000_000, 4, size)
    elif shape == 'groups':
        t, group = table(100 * size, 10), 100
    else:
        t, group = table(size, 10), size
    pq.write_table(t, os.path.join(folder, 'x.parquet'), row_group_size=group)


def measure(binary, preset, folder):
    """Returns wall seconds, processor seconds and peak MiB of a training, and its longest job."""
    out = os.path.join(folder, 'run')
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    p = subprocess.Popen(
        [binary, 'train', '--input', os.path.join(folder, 'x.parquet'), '--label', 'class', '--output', out]
        + ['--progress', 'none', '--max_values', '2000000', *presets[preset]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    complaint = p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit(f'{folder}: {complaint}')
    wall = time.perf_counter() - start
    with open(os.path.join(out, 'manifest.json')) as f:
        jobs = sorted(json.load(f)['timings'], key=lambda job: -job['seconds'])
    longest = ', '.join(f'{job["job"]} {job["seconds"]:.2f}' for job in jobs[:4])
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, longest


# Two-sided 5 % points of Student's t, by degrees of freedom from 1 on.
students = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306]


def slope(sizes, values):
    """Returns the slope of log(value) against log(size), and half of its 95 % interval."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    n = len(x)
    x, y = [one - sum(x) / n for one in x], [one - sum(y) / n for one in y]
    spread = sum(one * one for one in x)
    b = sum(one * other for one, other in zip(x, y)) / spread
    rest = sum((other - b * one) ** 2 for one, other in zip(x, y))
    return b, students[min(n - 2, len(students)) - 1] * math.sqrt(rest / (n - 2) / spread)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--binary', help='the program; default: built from this repository')
    ap.add_argument('--shapes', default=','.join(largest))
    ap.add_argument('--sizes', type=int, default=5, help='sizes of each shape, at least 3')
    ap.add_argument('--most', type=float, default=1, help='share of the largest size to end at')
    ap.add_argument('--presets', default='single,default')
    ap.add_argument('--make', help=argparse.SUPPRESS)  # SHAPE,SIZE,FOLDER: only make the data
    a = ap.parse_args()
    if a.make:
        shape, size, folder = a.make.split(',')
        return make(shape, int(size), folder)
    work = tempfile.mkdtemp()
    binary = a.binary
    if not binary:
        binary = os.path.join(work, 'espalier')
        subprocess.check_call(['go', 'build', '-o', binary, './cmd/espalier'], cwd=os.path.join(here, '..'))
    lines = []
    for shape in a.shapes.split(','):
        sizes = [int(largest[shape] * a.most) >> k for k in reversed(range(a.sizes))]
        runs = {preset: [] for preset in a.presets.split(',')}
        for size in sizes:
            folder = os.path.join(work, 'data')
            os.makedirs(folder)
            # In a process of its own: the system counts the memory of this one as the peak of
            # the processes that it begins.
            subprocess.check_call([sys.executable, __file__, '--make', f'{shape},{size},{folder}'])
            for preset in runs:
                runs[preset].append(measure(binary, preset, folder))
                wall, cpu, memory, jobs = runs[preset][-1]
                print(f'{shape} {size} {preset}: {wall:.2f} s, {cpu:.2f} s of processors, {memory:.0f} MiB; {jobs}', flush=True)
            shutil.rmtree(folder)
        for preset, all_runs in runs.items():
            time_slope, time_half = slope(sizes, [r[1] for r in all_runs])
            memory_slope, memory_half = slope(sizes, [r[2] for r in all_runs])
            wall, cpu, memory, _ = all_runs[-1]
            lines.append(
                f'| {shape} | {preset} | {sizes[0]:,} to {sizes[-1]:,} | {time_slope:.2f} ± {time_half:.2f} '
                f'| {memory_slope:.2f} ± {memory_half:.2f} | {wall:.1f} s, {cpu:.1f} s, {memory:.0f} MiB |'
            )
    shutil.rmtree(work)
    print('\n| shape | preset | sizes | time | memory | largest: wall, processors, memory |')
    print('| --- | --- | --- | --- | --- | --- |')
    print('\n'.join(lines))


main()
