#!/usr/bin/env python3
"""Kills each verb that writes, and runs it again.

    bench/kills.py [--espalier BIN] [--moments 100] [--changes N] [--cases NAME,..] [--seed 1] [--work FOLDER]

For each case (a verb with an output, over nothing, over an earlier output, with checkpoints, ...)
the script runs the command undisturbed. Then it kills it by SIGKILL at random moments, and, by the
fault injection of strace, at each change of a name: before each rename, link and removal that the
undisturbed run makes, by path where the path is the same in each run, else by its number within a
thread; with --changes at N of them. After each kill it runs the same command again; where that is refused because of what the
killed run has left, with the flags that the refusal names (--overwrite or --resume). In the end the
output must be that of the undisturbed run, byte for byte but for times, and no other file may be
there, neither below the working folder nor in the folder for temporary files. LATEST.json must name
a complete run after each kill. It fails if anything else is found, and prints the counts.

It needs Linux, Python, strace for the changes of names (else they are left out), and Go unless
--espalier names a binary.
"""

import argparse, collections, json, os, random, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
SYSCALLS = 'rename,renameat,renameat2,link,linkat,unlink,unlinkat'
LATEST = 'models/LATEST.json'

# What differs between two undisturbed runs: times, and names of attempts, which begin with a time.
TIMES = [(re.compile(rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)'), b'TIME'),
         (re.compile(rb'"(seconds|took_s|cpu_s|memory|peak_memory)": [0-9.e+-]+'), b'"SECONDS"'),
         (re.compile(rb'([Oo]n )?\d{4}-\d\d-\d\d (at )?\d\d:\d\d UTC'), b'TIME'),
         (re.compile(rb'"(overwrite|resume)": (true|false)'), b'"AGAIN"'),
         (re.compile(rb'(overwrite|resume)(</t\w>\s*<td>)(true|false)'), b'AGAIN'),
         (re.compile(rb'espalier_\w+_(seconds|timestamp\w*) [0-9.e+-]+'), b'FIGURE')]
MEASURED = ('timings', 'measured', 'seconds')


class Case:
    """A command, the state of the folder before it, and the flags that go on from what a kill leaves."""

    def __init__(self, command, before=(), again=(), ignore=None):
        self.command, self.before, self.again, self.ignore = command.split(), before, again, ignore


TRAIN = 'train --input rows.parquet --label class --progress none'
MODEL = TRAIN + ' --output model'
FAST = ' --algorithm c45,ec45 --lambda 10 --theta 0.005 --folds 0'
NIGHT = 'retrain --config night.yaml --date 2026-11-0'
HISTORY = re.compile(r'models/history/')
CASES = {
    'train': Case(TRAIN + ' --output o', again=['--overwrite']),
    'train over another run': Case(TRAIN + ' --output o --overwrite', [TRAIN + FAST + ' --output o --max_leaves 9']),
    'train, level by level': Case(TRAIN + FAST + ' --memory_objects 50 --output o', again=['--resume', '--overwrite']),
    'train, level by level, over another run': Case(
        TRAIN + FAST + ' --memory_objects 50 --output o --overwrite', [TRAIN + ' --output o --seed 2']),
    'train, resumed or begun': Case(TRAIN + FAST + ' --memory_objects 50 --output o --resume --overwrite'),
    'train --cuts_from': Case(TRAIN + FAST + ' --cuts_from model --output o', [MODEL], again=['--overwrite']),
    'train with rejects': Case(TRAIN + FAST + ' --contract contract.yaml --max_rejects 5000 --rejects bad.parquet --output o',
                               ['contract rows.parquet --label class --output contract.yaml'], again=['--overwrite']),
    'predict': Case('predict --model model --input rows.parquet --output o --progress none', [MODEL], again=['--overwrite']),
    'predict over others': Case('predict --model model --input rows.parquet --output o --progress none --overwrite',
                                [MODEL, 'predict --model model --input part-*.parquet --output o --progress none']),
    'import': Case('import rows.csv --output o --progress none', again=['--overwrite']),
    'import over another one': Case('import rows.csv --output o --progress none --overwrite',
                                    ['import few.csv --output o --progress none']),
    'report': Case('report model --overwrite', [MODEL]),
    'report of a run without one': Case('report model --overwrite', [MODEL + ' --report none']),
    'model card': Case('report model --format markdown --overwrite', [MODEL]),
    'report to a file': Case('report model --output o/report.html', [MODEL], again=['--overwrite']),
    'frontier --promote': Case('frontier model --promote 2 --output o --progress none', [MODEL], again=['--overwrite']),
    'frontier --max_leaves': Case('frontier model --max_leaves 7 --output o --overwrite --progress none',
                                   [MODEL, TRAIN + FAST + ' --output o']),
    'export': Case('export model --format python --output o/tree.py --golden o/test.py', [MODEL], again=['--overwrite']),
    'export over another one': Case('export model --format python --output o/tree.py --overwrite',
                                    [MODEL, 'export model --format python --output o/tree.py --overwrite']),
    'export --verify': Case('export model --format python --verify rows.parquet --output o/tree.py', [MODEL],
                            again=['--overwrite']),
    'plot': Case('show model --picture frontier --output o/frontier.svg', [MODEL], again=['--overwrite']),
    'evaluate': Case('evaluate --model model --input rows.parquet --output o/metrics.json --progress none', [MODEL],
                     again=['--overwrite']),
    'evaluate over another one': Case(
        'evaluate --model model --input rows.parquet --output o/metrics.json --overwrite --progress none',
        [MODEL, 'evaluate --model model --input part-00000.parquet --output o/metrics.json --progress none']),
    'compare': Case('evaluate model --against other --input rows.parquet --output o/comparison.json --progress none',
                    [MODEL, TRAIN + FAST + ' --output other'], again=['--overwrite']),
    'contract': Case('contract rows.parquet --label class --output o/contract.yaml'),
    'retrain': Case(NIGHT + '1', ignore=HISTORY),
    'retrain of a second day': Case(NIGHT + '2', [NIGHT + '1'], ignore=HISTORY),
    'retrain, level by level': Case(NIGHT + '2 --memory_objects 50', [NIGHT + '1'], ignore=HISTORY),
    'retrain --keep_runs': Case(NIGHT + '2 --keep_runs 1', [NIGHT + '1'], ignore=HISTORY),
    'retrain --mode refit': Case(NIGHT + '2 --mode refit', [NIGHT + '1'], ignore=HISTORY),
    'retrain of an earlier day': Case(NIGHT + '1', [NIGHT + '2'], ignore=HISTORY),
}
YAML = '''input: DAYS/{date}.parquet
destination: models
label: class
algorithm: c45,ec45
lambda: 10
theta: 0.005
folds: 0
gate_tolerance: 0.5
max_flips: 1
max_auc_fall: 1
open_metrics: figures.prom
progress: none
'''


class Machine:
    def __init__(self, espalier, work):
        self.espalier, self.work = espalier, work
        self.temporary = os.path.join(work, 'temporary')
        self.at = os.path.join(work, 'at')  # where commands run; always the same path
        self.made = os.path.join(work, 'made')
        self.states = {}
        self.environment = dict(os.environ, TMPDIR=self.temporary)

    def run(self, command, before=(), **more):
        return subprocess.run([*before, self.espalier, *command], cwd=self.at, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors='replace', timeout=300, **more)

    def make(self):
        """Makes the rows of all cases."""
        fresh(self.made), fresh(self.at), fresh(self.temporary)
        rows = 'go run ./bench/synth --rows 1200 --rows_per_file 600 --numeric 4 --categorical 2 --seed 5 --output'
        subprocess.run([*rows.split(), f'{self.at}/o'], cwd=os.path.dirname(HERE), check=True)
        for name in ('part-00000.parquet', 'part-00001.parquet'):
            shutil.copy(f'{self.at}/o/{name}', f'{self.made}/{name}')
        os.makedirs(self.made + '/days')
        shutil.copy(f'{self.at}/o/part-00000.parquet', self.made + '/rows.parquet')
        shutil.copy(f'{self.at}/o/part-00000.parquet', self.made + '/days/2026-11-01.parquet')
        shutil.copy(f'{self.at}/o/part-00001.parquet', self.made + '/days/2026-11-02.parquet')
        with open(self.made + '/rows.csv', 'w') as f:
            f.write('a,b,class\n' + ''.join(f'{i},{i % 7}x,{i % 2}\n' for i in range(60000)))
        with open(self.made + '/few.csv', 'w') as f:
            f.write('a,b,class\n1,x,0\n2,y,1\n')
        with open(self.made + '/night.yaml', 'w') as f:
            f.write(YAML.replace('DAYS', self.made + '/days'))  # a copy would be another file

    def must(self, command):
        p = self.run(command)
        if p.returncode:
            sys.exit(f'{" ".join(command)}: exit code {p.returncode}: {p.stderr}')

    def state(self, before):
        """Brings the folder into the state before a case."""
        key = tuple(before)
        if key not in self.states:
            fresh(self.at)
            copy(self.made, self.at)
            for command in before:
                self.must(command.split())
            self.states[key] = os.path.join(self.work, f'state-{len(self.states)}')
            copy(self.at, self.states[key])
        fresh(self.at), fresh(self.temporary)
        copy(self.states[key], self.at)

    def found(self, case):
        """Returns the files by name, with their bytes but for times."""
        files = {}
        for root in (self.at, self.temporary):
            for folder, _, names in os.walk(root):
                for name in names:
                    path = os.path.join(folder, name)
                    short = os.path.relpath(path, self.work)
                    if case.ignore and case.ignore.search(short) and '.espalier-' not in short:
                        continue
                    files[short] = plain(path)
        return files


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)


def copy(source, target):
    shutil.copytree(source, target, dirs_exist_ok=True)


def plain(path):
    with open(path, 'rb') as f:
        b = f.read()
    if os.path.basename(path) in ('manifest.json', '_manifest.json'):
        try:
            document = json.loads(b)
            for key in MEASURED:
                document.pop(key, None)
            b = json.dumps(document, indent=1).encode()
        except ValueError:
            pass
    for pattern, text in TIMES:
        b = pattern.sub(text, b)
    return b


def changes(log):
    """Returns the changes of names in a log of strace: the last path of each, and the most in one thread."""
    paths, threads = collections.OrderedDict(), collections.Counter()
    for line in log.splitlines():
        thread, _, call = line.partition(' ')
        name = call.strip().partition('(')[0]
        if 'resumed' in call or name not in SYSCALLS.split(','):
            continue
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', call)
        threads[thread] += 1
        if texts and '.espalier-' not in texts[-1] and not re.search(r'[A-Za-z2-7]{26}|/history/', texts[-1]):
            paths[texts[-1]] = True
    return list(paths), max(threads.values(), default=0)


def half(machine):
    """Reports whether LATEST.json names a run that is not complete."""
    try:
        with open(os.path.join(machine.at, LATEST)) as f:
            run = json.load(f)['run']
    except FileNotFoundError:
        return False
    return not os.path.exists(os.path.join(machine.at, 'models', run, '_SUCCESS'))


def again(machine, case, want, counts, faults, what):
    """Runs the command again after a kill, and judges what is there."""
    if half(machine):
        faults.append(f'{what}: LATEST.json names a run that is not complete')
    p = machine.run(case.command)
    flags = []
    for flag in case.again:  # as the refusal says
        if p.returncode == 2 and flag in p.stderr:
            counts['refused'] += 1
            flags.append(flag)
            p = machine.run(case.command + flags)
    found = machine.found(case)
    left = sorted(set(found) - set(want))
    lost = sorted(set(want) - set(found))
    other = sorted(name for name in want if name in found and want[name] != found[name])
    if p.returncode and (left or lost or other):
        faults.append(f'{what}: exit code {p.returncode}: {p.stderr.strip().splitlines()[-1:]}')
    for text, names in (('stay', left), ('are missing', lost), ('have other bytes', other)):
        if names:
            faults.append(f'{what}: {", ".join(names[:3])} {text}')
    counts['left'] += bool(left)
    counts['other'] += bool(lost or other)


def random_kills(machine, case, want, seconds, n, counts, faults):
    for i in range(n):
        machine.state(case.before)
        after = random.random() * seconds
        p = subprocess.Popen([machine.espalier, *case.command], cwd=machine.at, env=machine.environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            p.wait(after)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            counts['killed'] += 1
        counts['moments'] += 1
        again(machine, case, want, counts, faults, f'after {after:.3f} s')


def name_kills(machine, case, want, n, counts, faults):
    log = os.path.join(machine.work, 'strace.log')
    machine.state(case.before)
    machine.run(case.command, ['strace', '-f', '-qq', '-o', log, '-e', 'trace=' + SYSCALLS])
    with open(log) as f:
        paths, most = changes(f.read())
    injected = [(f'before the first change of {path}', ['-P', path], 1) for path in paths]
    injected += [(f'before the change {i} of a thread', [], i) for i in range(1, most + 1)]
    for what, only, when in random.sample(injected, min(n, len(injected))) if n else injected:
        machine.state(case.before)
        p = machine.run(case.command, ['strace', '-f', '-qq', '-o', '/dev/null', *only, '-e', 'trace=' + SYSCALLS,
                                       '-e', f'inject={SYSCALLS}:signal=SIGKILL:when={when}'])
        counts['changes'] += 1
        counts['killed'] += p.returncode in (-9, 137)
        again(machine, case, want, counts, faults, what)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--espalier')
    parser.add_argument('--moments', type=int, default=100)
    parser.add_argument('--changes', type=int, default=0)
    parser.add_argument('--cases', default=','.join(name.replace(',', ';') for name in CASES))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--work')
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix='kills-')
    os.makedirs(work, exist_ok=True)
    espalier = options.espalier
    if not espalier:
        espalier = os.path.join(work, 'espalier')
        subprocess.run(['go', 'build', '-o', espalier, './cmd/espalier'], cwd=os.path.dirname(HERE), check=True)
    machine = Machine(os.path.abspath(espalier), os.path.abspath(work))
    machine.make()
    strace = shutil.which('strace')
    failed = 0
    print(f'{"case":42} {"moments":>7} {"changes":>7} {"killed":>6} {"refused":>7} {"left":>4} {"other":>5}', flush=True)
    for name in options.cases.split(','):
        name, case = name.replace(';', ','), CASES[name.replace(';', ',')]
        random.seed(f'{options.seed} {name}')
        machine.state(case.before)
        start = time.time()
        machine.must(case.command)
        seconds, want = time.time() - start, machine.found(case)
        machine.state(case.before)
        machine.must(case.command)
        second = machine.found(case)
        differ = sorted(n for n in {*want, *second} if want.get(n) != second.get(n))
        if differ:
            sys.exit(f'{name}: two undisturbed runs differ in {differ}')
        counts, faults = collections.Counter(), []
        random_kills(machine, case, want, seconds, options.moments, counts, faults)
        if strace:
            name_kills(machine, case, want, options.changes, counts, faults)
        print(f'{name:42} {counts["moments"]:7} {counts["changes"]:7} {counts["killed"]:6} {counts["refused"]:7} '
              f'{counts["left"]:4} {counts["other"]:5}', flush=True)
        for fault in faults[:8]:
            print('    ' + fault[:300], flush=True)
        failed += len(faults)
    if not options.work:
        shutil.rmtree(work, ignore_errors=True)
    if failed:
        sys.exit(f'{failed} faults')


if __name__ == '__main__':
    main()
