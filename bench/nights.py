#!/usr/bin/env python3
"""Kills the nightly job of docs/go.md at random moments, and compares its trees with those of espalier retrain.

    bench/nights.py [--espalier BIN] [--days 10] [--bad 6] [--kills 3] [--rows 3000] [--endpoint HOST:PORT] [--seed 1]

Each day has new rows; those of the bad day have random classes. The job of a day is killed by SIGKILL at --kills random
moments of its time, and then runs undisturbed. With --endpoint it runs on the Flink whose job service is there, and the
workers that Flink has started are killed, which Flink starts again by its restart strategy. After each kill and each job
LATEST.json must be as before, or name a complete run of the day whose tree has its digest. Every day but the bad one must
be promoted, and the run of each day must have the tree.json, byte for byte, that `espalier retrain` writes for the same
rows. It fails otherwise, and prints the counts.

It needs Linux and Go.
"""

import argparse, glob, hashlib, json, os, random, re, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def build(work):
    """Builds the program of the page in a module of its own, with the versions of the repository."""
    page = open(ROOT + '/docs/go.md').read()
    source = next(s for s in re.findall(r'```go\n(.*?)```', page, re.S) if s.startswith('// Command night trains'))
    folder = work + '/night'
    os.makedirs(folder)
    module = open(ROOT + '/go.mod').read().split('\n', 1)[1]
    with open(folder + '/go.mod', 'w') as f:
        f.write(f'module example.com/night\n{module}\nrequire github.com/espalier-ml/espalier v0.0.0\n'
                f'replace github.com/espalier-ml/espalier => {ROOT}\n')
    with open(folder + '/main.go', 'w') as f:
        f.write(source)
    shutil.copy(ROOT + '/go.sum', folder)
    subprocess.run(['go', 'build', '-mod=mod', '-o', 'night', '.'], cwd=folder, check=True)
    return folder + '/night'


def write_day(espalier, folder, day, rows, bad):
    """Writes the rows of a day as Parquet."""
    chance = random.Random(day)
    os.makedirs(folder)
    with open(folder + '/day.csv', 'w') as f:
        f.write('id,age,class\n')
        for row in range(rows):
            age = chance.randrange(90)
            ill = chance.random() < .5 if bad else (age >= 55) != (chance.random() < .1)
            f.write(f'{day * rows + row},{age}.5,{"ill" if ill else "well"}\n')
    subprocess.run([espalier, 'import', folder + '/day.csv', '--output', folder + '/visits', '--progress', 'none'], check=True,
                   capture_output=True)


def pointer(trees):
    """Returns the run that LATEST.json names, which must be complete and have the digest; None if there is none."""
    try:
        latest = json.load(open(trees + '/LATEST.json'))
    except FileNotFoundError:
        return None
    run = f'{trees}/{latest["run"]}'
    digest = hashlib.sha256(open(run + '/tree.json', 'rb').read()).hexdigest()
    if digest != latest['tree_sha256'] or not os.path.exists(run + '/_SUCCESS'):
        sys.exit(f'LATEST.json names {latest}, whose tree has the digest {digest}')
    return latest['run']


def workers(program):
    """Returns the processes of the program that Flink has started."""
    for status in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            line = open(status, 'rb').read()
            if os.readlink(os.path.dirname(status) + '/exe') == program and (b'--worker=true' in line or b'--provision_endpoint' in line):
                yield int(status.split('/')[2])
        except OSError:
            continue  # it has ended


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return 1
    except ProcessLookupError:
        return 0


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--espalier')
    a.add_argument('--days', type=int, default=10)
    a.add_argument('--bad', type=int, default=6)
    a.add_argument('--kills', type=int, default=3)
    a.add_argument('--rows', type=int, default=3000)
    a.add_argument('--endpoint')
    a.add_argument('--seed', type=int, default=1)
    args = a.parse_args()
    chance = random.Random(args.seed)
    work = tempfile.mkdtemp()
    espalier = args.espalier
    if not espalier:
        espalier = work + '/espalier'
        subprocess.run(['go', 'build', '-o', espalier, './cmd/espalier'], cwd=ROOT, check=True)
    program = build(work)
    trees, gate = work + '/trees', work + '/retrained'
    flags = ['--runner', 'direct']
    if args.endpoint:
        flags = ['--runner', 'flink', '--endpoint', args.endpoint, '--parallelism', '2', '--environment_type', 'PROCESS',
                 '--environment_config', json.dumps({'command': program}), '--worker_binary', '/dev/null']
    counts = {'kills': 0, 'after which LATEST.json was as before': 0, 'promoted': 0, 'refused': 0, 'same trees': 0}
    faults = []
    seconds = 1.0

    def start(folder, date):
        return subprocess.Popen([program, '--date', date, '--destination', trees, *flags], cwd=folder, stdout=subprocess.DEVNULL,
                                stderr=open(work + '/log', 'w'))

    for day in range(1, args.days + 1):
        date = f'2026-11-{day:02d}'
        folder = f'{work}/{date}'
        write_day(espalier, folder, day, args.rows, day == args.bad)
        before = pointer(trees)
        for _ in range(args.kills):
            job = start(folder, date)
            if args.endpoint:
                while job.poll() is None and not list(workers(program)):
                    time.sleep(.02)
                time.sleep(chance.uniform(0, .7))  # a worker lives for about a second
            else:
                time.sleep(chance.uniform(0, seconds))
            if args.endpoint:
                hit = sum(map(kill, list(workers(program))))
            else:
                kill(job.pid)
            code = job.wait()
            if not args.endpoint:
                hit = code == -signal.SIGKILL  # otherwise it had ended before
            if code and code != -signal.SIGKILL:
                faults.append(f'{date}: a job that was to be killed, or whose worker was, fails: {open(work + "/log").read()[-500:]}')
            counts['kills'] += hit > 0
            now = pointer(trees)
            counts['after which LATEST.json was as before'] += hit > 0 and now == before
            if now != before and not (now or '').startswith('runs/' + date):
                faults.append(f'{date}: {now} is in use after a kill, and was {before}')
        began = time.time()
        if start(folder, date).wait():
            faults.append(f'{date}: an undisturbed job fails: {open(work + "/log").read()[-500:]}')
        seconds = time.time() - began
        now = pointer(trees)
        promoted = now != before
        counts['promoted' if promoted else 'refused'] += 1
        if promoted == (day == args.bad):
            faults.append(f'{date}: {now} is in use, and was {before}')
        p = subprocess.run([espalier, 'retrain', '--destination', gate, '--date', date, '--input', folder + '/visits', '--label',
                            'class', '--group', 'id', '--progress', 'none'], capture_output=True, text=True)
        runs = [glob.glob(f'{root}/runs/{date}*/tree.json') for root in (trees, gate)]
        if any(len(r) != 1 for r in runs):
            faults.append(f'{date}: the runs of the day are {runs}; retrain says {p.stderr[-300:]}')
        elif len({open(r[0], 'rb').read() for r in runs}) == 1:
            counts['same trees'] += 1
        else:
            faults.append(f'{date}: {runs} differ')
    print(', '.join(f'{n} {what}' for what, n in counts.items()), f'({seconds:.1f} s a job)')
    for fault in faults:
        print(fault)
    shutil.rmtree(work)
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
