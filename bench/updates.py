#!/usr/bin/env python3
"""Updates a streaming pipeline on Flink to a program with one column more, and compares what it did with a loop.

    bench/updates.py --program BIN --espalier BIN --endpoint HOST:PORT --rest HOST:PORT [--rows 300000]
        [--hours 24] [--seed 1] [--kill] [--work DIR]

The program is bench/pipeline. It reads events of --hours hours, out of order, grows a tree of each hour, and scores each
event by the latest tree before it. Some events have a text in a numeric column, and one hour has 1,001 classes. With
--kill, a TaskManager is killed after a few hours. Later the job is stopped with a savepoint, and the program
goes on from there with one numeric column more.

A loop over the events finds for each event what must become of it: scored by the tree of an hour, without tree, or a dead
letter. It fails unless each event appears once, as the loop says, with the leaf and the class that the loop finds in
the tree; unless `espalier train` grows the same trees, byte for byte, from the events of their hours; and unless
the counts of the open hours, which the update drops, are counted. Prints the counts.
"""

import argparse, collections, csv, glob, json, operator, os, random, shutil, signal, subprocess, sys, tempfile, time, urllib.request

HOUR = 3_600_000
START = 1_767_225_600_000  # 2026-01-01
DISORDER = 45 * 60_000  # the greatest delay of an event, and of the watermark: for most of an hour, rows wait for trees
FIRST = ['amount', 'age', 'visits']
MORE = FIRST + ['score']
BAD = 7  # this hour has 1,001 classes


def make(path, rows, hours, seed, bad):
    """Writes the events in the order of their arrival, and returns them, and their places in this order by id."""
    chance = random.Random(seed)
    events = []
    for i in range(rows):
        at = START + i * hours * HOUR // rows
        hour = (at - START) // HOUR
        e = {'id': i, 'at': at, 'amount': round(chance.gauss(50, 20), 1), 'age': chance.randrange(90), 'visits': chance.choice([None, *range(9)]),
             'score': round(chance.random(), 3), 'city': chance.choice(['Bern', 'Oslo', 'Rome'])}
        high = e['amount'] + e['age'] > 90 + hour and e['city'] != 'Oslo' or e['score'] > .8
        e['class'] = f'c{i % 1001}' if hour == BAD else 'yes' if high != (chance.random() < .05) else 'no'
        if bad and chance.random() < .001:
            e['amount'] = 'unknown'
        events.append(e)
    order = sorted(events, key=lambda e: e['at'] + chance.randrange(DISORDER))
    with open(path, 'w') as f:
        f.writelines(json.dumps(e) + '\n' for e in order)
    return events, {e['id']: at for at, e in enumerate(order)}


# Conditions of branches, for a value that is not missing.
HOLDS = {'ge': operator.ge, 'lt': operator.lt, 'in': lambda x, v: x in v, 'not_in': lambda x, v: x not in v,
         'missing': lambda x, v: not v, 'not_missing': lambda x, v: v}


def route(tree, event):
    """Returns the leaf of an event."""
    node = tree['nodes'][0]
    while 'branches' in node:
        x = event[node['test']['feature']]
        for branch in node['branches']:
            when = branch['when']
            if x is None:
                found = branch.get('missing') or when.get('missing')
            else:
                found = all(HOLDS[op](x, v) for op, v in when.items())
            if found:
                node = tree['nodes'][branch['child']]
                break
        else:
            raise ValueError(f'no branch of {node} for {event}')
    return node


def grown(espalier, work, events, columns):
    """Returns the bytes of the tree that espalier grows from events."""
    folder = tempfile.mkdtemp(dir=work)
    with open(folder + '/rows.csv', 'w') as f:
        rows = csv.writer(f)
        rows.writerow(columns + ['city', 'class'])
        rows.writerows([*(e[c] for c in columns), e['city'], e['class']] for e in events)
    subprocess.run([espalier, 'import', folder + '/rows.csv', '--output', folder + '/rows', '--progress', 'none'], check=True,
                   capture_output=True)
    subprocess.run([espalier, 'train', '--input', folder + '/rows', '--label', 'class', '--max_depth', '6', '--split', '100/0/0',
                    '--select', 'first', '--certificate', 'none', '--progress', 'none', '--output', folder + '/run'],
                   check=True, capture_output=True)
    b = open(folder + '/run/tree.json', 'rb').read()
    shutil.rmtree(folder)
    return b


class Flink:
    """The REST interface of a JobManager."""

    def __init__(self, address):
        self.root = f'http://{address}'

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, {'Content-Type': 'application/json'})
        return json.load(urllib.request.urlopen(request, timeout=30))

    def running(self):
        return [j['id'] for j in self.call('/jobs')['jobs'] if j['status'] == 'RUNNING']

    def restored(self, job):
        """Waits until a job has been restored from a checkpoint."""
        until = time.time() + 120
        while self.call(f'/jobs/{job}/checkpoints')['counts']['restored'] == 0:
            if time.time() > until:
                sys.exit(f'job {job} is not restored from a checkpoint')
            time.sleep(.1)

    def stop(self, job, folder):
        """Stops a job with a savepoint, and returns its location."""
        trigger = self.call(f'/jobs/{job}/stop', {'targetDirectory': folder, 'drain': False})['request-id']
        deadline = time.monotonic() + 120
        while True:
            if time.monotonic() > deadline:
                sys.exit(f'no savepoint of {job} in 120 s')
            status = self.call(f'/jobs/{job}/savepoints/{trigger}')
            if status['status']['id'] == 'COMPLETED':
                if 'location' not in status['operation']:
                    sys.exit(f'no savepoint: {json.dumps(status)[:3000]}')
                return status['operation']['location']
            time.sleep(.1)


def managers(program):
    """Returns the TaskManagers that have a worker of the program."""
    for stat in glob.glob('/proc/[0-9]*/exe'):
        try:
            if os.readlink(stat) == program:
                folder = os.path.dirname(stat)
                line = open(folder + '/cmdline', 'rb').read()
                parent = int(open(folder + '/stat').read().rsplit(')', 1)[1].split()[1])
                if b'--id=' in line and b'TaskManagerRunner' in open(f'/proc/{parent}/cmdline', 'rb').read():
                    yield parent
        except OSError:
            continue  # it has ended


def check(args, events, place, results, counters, work):
    """Returns the counts and the faults."""
    lines = [json.loads(line) for name in sorted(glob.glob(results + '/*.jsonl')) for line in open(name)]
    counts = collections.Counter(line['what'] for line in lines)
    faults = []
    became = collections.defaultdict(list)
    untrained = collections.Counter()
    hours = collections.defaultdict(list)
    for line in lines:
        if line['what'] in ('scored', 'unscored', 'dead'):
            became[int(line['id'])].append(line)
        elif line['what'] == 'untrained':
            untrained[int(line['id'])] += 1
        else:
            hours[line['start']].append(line)
    # Both programs read in the order of arrival.
    boundary = min(place[i] for i, of in became.items() if of[0]['made'] == 2)
    made = [1 if place[i] < boundary else 2 for i in range(len(events))]
    counts['read by the first program'] = boundary
    wrong = [i for i, of in became.items() if len(of) != 1 or of[0]['made'] != made[i]]
    if wrong:
        faults.append(f'{len(wrong)} events appear more than once, such as {wrong[0]}: {became[wrong[0]]}')
    absent = [i for i in range(len(events)) if i not in became]
    waited = counters.get('waiting_dropped', 0)
    if len(absent) != waited or any(made[i] == 2 for i in absent) or absent and not args.structs:
        faults.append(f'{len(absent)} events do not appear, such as {absent[:3]}, and waiting_dropped is {waited}')
    counts['waiting rows of another type, counted as waiting_dropped'] = waited
    bad = [isinstance(e['amount'], str) for e in events]
    if untrained != collections.Counter({i: 1 for i, b in enumerate(bad) if b}):
        faults.append(f'{len(untrained)} dead letters of the training, and {sum(bad)} bad rows')

    # The trees of the hours: an hour that the first program has ended has all its events; of an hour that was open at the
    # savepoint, the events of the first program are dropped.
    trees, lost = {}, 0
    for hour in range(START, START + args.hours * HOUR, HOUR):
        of = [i for i in range(len(events)) if hour <= events[i]['at'] < hour + HOUR and not bad[i]]
        told = hours.pop(hour, [])
        if len(told) > 1:
            faults.append(f'hour {hour} appears {len(told)} times')
        by = told[0]['by'] if told else 2
        used = [i for i in of if made[i] == by]
        if by == 1 and len(used) != len(of):
            faults.append(f'the first program has ended hour {hour} without {len(of) - len(used)} events')
        lost += len(of) - len(used)
        if not used:
            if told:
                faults.append(f'{told} of no events')
            continue
        if not told:
            faults.append(f'hour {hour}, of {len(used)} events, does not appear')
            continue
        if len({events[i]['class'] for i in used}) > 1000:
            if told[0]['what'] != 'refused' or 'classes' not in told[0]['reason']:
                faults.append(f'hour {hour} has 1,001 classes: {told}')
            continue
        want = grown(args.espalier, work, [events[i] for i in used], FIRST if by == 1 else MORE)
        if told[0]['what'] != 'tree' or told[0]['rows'] != len(used):
            faults.append(f'hour {hour} of {len(used)} events: {told}')
            continue
        b = open(f'{results}/{told[0]["model"]}.json', 'rb').read()
        trees[hour + HOUR] = (told[0]['model'], json.loads(b))
        counts['trees of the same bytes'] += b == want
        if b != want:
            with open(work + '/want.json', 'wb') as f:
                f.write(want)
            faults.append(f'hour {hour}: espalier train grows another tree than {results}/{told[0]["model"]}.json: {work}/want.json')
    if hours:
        faults.append(f'more hours: {list(hours.items())[:3]}')
    dropped = counters.get('rows_dropped', 0)
    if lost != dropped:
        faults.append(f'{lost} events of open hours are lost, and rows_dropped is {dropped}')
    counts['events of open hours, counted as rows_dropped'] = lost

    for i in became:
        e = events[i]
        line = became[i][0]
        before = [end for end in trees if end <= e['at']]
        want = 'dead' if bad[i] and before else 'scored' if before else 'unscored'
        if line['what'] != want:
            faults.append(f'event {e}: {line}, want {want}')
        elif want == 'dead' and (line['column'], line['value']) != ('amount', 'unknown'):
            faults.append(f'event {e}: {line}')
        elif want == 'scored':
            model, tree = trees[max(before)]
            leaf = route(tree, e if made[i] == 2 else e | {'score': None})
            if (line['model'], line['leaf'], line['class']) != (model, leaf['id'], leaf['class']):
                faults.append(f'event {e}: {line}, want {model}, leaf {leaf["id"]}, {leaf["class"]}')
            counts[f'scored, read by program {made[i]}, by a tree of program {1 if "score" not in names(tree) else 2}'] += 1
        if len(faults) > 20:
            break
    return counts, faults


def names(tree):
    return [f['name'] for f in tree['features']]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('program', 'espalier', 'endpoint', 'rest'):
        a.add_argument('--' + name, required=True)
    a.add_argument('--rows', type=int, default=300_000)
    a.add_argument('--hours', type=int, default=24)
    a.add_argument('--pause', default='200ms')
    a.add_argument('--kill', action='store_true')
    a.add_argument('--structs', action='store_true')
    a.add_argument('--seed', type=int, default=1)
    a.add_argument('--work')
    args = a.parse_args()
    work = args.work or tempfile.mkdtemp()
    results = work + '/results'
    os.makedirs(results)
    events, place = make(work + '/events.jsonl', args.rows, args.hours, args.seed, not args.structs)
    flink = Flink(args.rest)

    def start(version, columns, **options):
        options |= {'checkpointing_interval': 1000, 'max_bundle_time_mills': 100, 'finish_bundle_before_checkpointing': True}
        return subprocess.Popen(
            [args.program, '--runner', 'flink', '--endpoint', args.endpoint, '--parallelism', '2', '--environment_type', 'PROCESS',
             '--environment_config', json.dumps({'command': args.program}), '--worker_binary', '/dev/null',
             '--job_options', json.dumps(options), '--events', work + '/events.jsonl', '--folder', results,
             '--numeric', ','.join(columns), '--version', str(version), '--behind', f'{DISORDER}ms', '--pause', args.pause,
             *(['--structs'] if args.structs else [])],
            stdout=open(f'{work}/out{version}', 'w'), stderr=open(f'{work}/log{version}', 'w'))

    def ended(hours, job):
        """Waits until a number of hours has ended."""
        until = time.time() + 600
        while len(glob.glob(results + '/*.jsonl')) < hours:
            if job.poll() is not None or time.time() > until:
                sys.exit(f'{len(glob.glob(results + "/*.jsonl"))} hours have ended, and the job does not go on: {job.poll()}')
            time.sleep(.1)

    began = time.time()
    first = start(1, FIRST)
    if args.kill:
        ended(3, first)
        victim = next(managers(args.program))
        job, = flink.running()
        os.kill(victim, signal.SIGKILL)
        flink.restored(job)
        print(f'TaskManager {victim} was killed, and the job restored, after {time.time() - began:.1f} s', flush=True)
    ended(args.hours // 2, first)
    job, = flink.running()
    savepoint = flink.stop(job, 'file://' + work + '/savepoints')
    first.wait()
    print(f'savepoint after {time.time() - began:.1f} s', flush=True)
    second = start(2, MORE, savepoint_path=savepoint)
    ended(args.hours, second)
    job, = flink.running()
    flink.stop(job, 'file://' + work + '/savepoints')  # the job of a stream does not end
    if second.wait():
        sys.exit(f'the second program fails: {open(work + "/log2").read()[-2000:]}')
    print(f'the second program has ended after {time.time() - began:.1f} s: {open(work + "/out2").read()}', flush=True)
    counts, faults = check(args, events, place, results, json.load(open(work + '/out2'))['counters'], work)
    print(', '.join(f'{n} {what}' for what, n in sorted(counts.items())))
    for fault in faults:
        print(fault)
    if not args.work and not faults:
        shutil.rmtree(work)
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
