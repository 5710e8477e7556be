#!/usr/bin/env python3
"""Checks the files for Kubernetes and Airflow by their own tools.

    bench/check_deploy.py [--environment FOLDER] [--espalier BINARY]

Each manifest of cmd/espalier/deploy/kubernetes must pass kubernetes-validate, which has the schemas of
Kubernetes, without unknown fields. The DAG must import under Airflow, have its tasks and schedule, and end as
its text says for each exit code of espalier. Then `dag.test`, which `airflow dags test` calls, runs the DAG
for four nights, with the espalier of this repository and retries without delay: a good night, a night whose file
arrives after the first attempt, a night whose tree the gate refuses, and a night without a file.

Airflow needs versions of packages that others do not, so both tools are installed into a virtual environment:
FOLDER, which is made if it does not exist, or a temporary folder. Go builds espalier unless BINARY is named.
"""

import argparse, glob, os, subprocess, sys, tempfile, venv

here = os.path.dirname(os.path.abspath(__file__))
deploy = os.path.join(here, '..', 'cmd', 'espalier', 'deploy')

dag_check = '''
import importlib.util, json, os, shutil, subprocess, sys
from datetime import datetime, timedelta, timezone
import airflow
from airflow.sdk.exceptions import AirflowFailException

path, folder, binary = sys.argv[1:]
spec = importlib.util.spec_from_file_location('airflow_dag', path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
dag = module.dag
assert (dag.dag_id, [t.task_id for t in dag.tasks]) == ('espalier_nightly', ['retrain', 'predict', 'both']), dag.tasks
assert dag.max_active_runs == 1 and not dag.catchup and '15 3 * * *' in str(dag.schedule), dag.schedule
for task in dag.tasks:
    assert task.retries == 6 and task.retry_delay.total_seconds() == 1800, (task.retries, task.retry_delay)

stand_in = os.path.join(folder, 'espalier')  # keeps its command lines
lines = os.path.join(folder, 'lines')
os.environ['PATH'] = folder + os.pathsep + os.environ['PATH']


def stand(script):
    with open(stand_in, 'w') as f:
        f.write(f'#!/bin/sh\\necho "$@" >> {lines}\\n{script}\\n')
    os.chmod(stand_in, 0o700)


def taken():
    with open(lines) as f:
        found = f.read().splitlines()
    os.remove(lines)
    return found


for verb in 'retrain', 'predict':
    for code, wanted in [(0, None), (2, AirflowFailException), (4, AirflowFailException),
                         (1, RuntimeError), (3, RuntimeError), (5, RuntimeError), (130, RuntimeError)]:
        stand(f'exit {code}')
        try:
            module.espalier(verb, '2026-11-23')
            ended = None
        except Exception as e:
            ended = type(e)
        assert ended is wanted, (verb, code, ended, wanted)
        line = taken()
        assert line == [f'{verb} --config /etc/espalier/nightly.yaml --date 2026-11-23 --progress none'], line
print('ok: airflow', airflow.__version__, 'imports the DAG; 7 exit codes of 2 verbs end as they should')

days = [f'2026-11-{d}' for d in range(21, 25)]
at = lambda *names: os.path.join(folder, *names)
synth = ['go', 'run', 'github.com/espalier-ml/espalier/bench/synth']
subprocess.check_call([*synth, '--output', at('rows'), '--rows', '40000', '--rows_per_file', '10000'], cwd=os.path.dirname(path))
os.mkdir(at('visits'))
os.mkdir(at('late'))
for day, to, part in zip(days, ['visits', 'visits', 'late', 'visits'], range(4)):
    shutil.copy(at('rows', f'part-0000{part}.parquet'), at(to, day + '.parquet'))
config = f"""
input: {at('visits')}/{{date-1..date}}.parquet
label: class
destination: {at('models')}
predict:
  input: {at('visits')}/{{date}}.parquet
  output: {at('scored')}/{{date}}
"""
# Late files arrive after the first attempt that has not found them.
stand(f"""verb=$1; shift 3
{binary} "$verb" --config {at('nightly.yaml')} "$@"
code=$?
[ $code != 3 ] || mv {at('late')}/* {at('visits')} 2>/dev/null
exit $code""")
for task in dag.tasks:
    task.retry_delay, task.retries = timedelta(0), 2


def night(day, told, attempts, ended, tree_of, settings=''):
    """Runs the DAG for a day, and checks the states, the attempts of each verb and the tree that scored the day."""
    with open(at('nightly.yaml'), 'w') as f:
        f.write(config + settings)
    run = dag.test(logical_date=datetime.fromisoformat(day).replace(tzinfo=timezone.utc))
    states = {t.task_id: str(t.state) for t in run.get_task_instances()} | {'DAG run': str(run.state)}
    verbs = [line.split()[0] for line in taken()]
    with open(at('models', 'LATEST.json')) as f:
        latest = json.load(f)
    scored = None
    if os.path.exists(at('scored', day, '_SUCCESS')):
        with open(at('scored', day, '_manifest.json')) as f:
            scored = json.load(f)['model_digest']
    assert verbs == attempts, (told, verbs)
    assert states == dict(zip(['retrain', 'predict', 'both', 'DAG run'], ended)), (told, states)
    assert latest['run'][5:15] == tree_of, (told, latest)
    assert scored == (None if 'failed' == states['predict'] else latest['tree_sha256']), (told, scored)
    by = f'scored by the tree of {tree_of}' if scored else 'not scored'
    print(f'ok: {told} ({", ".join(verbs)}): retrain {states["retrain"]}, predict {states["predict"]}, DAG run {run.state}, {by}')


good = ['success'] * 4
night(days[1], 'a good night', ['retrain', 'predict'], good, days[1])
night(days[2], 'a late file', ['retrain', 'retrain', 'predict'], good, days[2])
night(days[3], 'a refused gate', ['retrain', 'predict'], ['failed', 'success', 'upstream_failed', 'failed'], days[2],
      'min_auc: 1')
night('2026-11-25', 'no file', ['retrain'] * 3 + ['predict'] * 3, ['failed', 'failed', 'upstream_failed', 'failed'], days[2])
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--environment', help='virtual environment; default: a new one')
    parser.add_argument('--espalier', help='binary; default: go build')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.environment or os.path.join(scratch, 'environment')
        python = os.path.join(folder, 'bin', 'python')
        if not os.path.exists(python):
            venv.create(folder, with_pip=True)
            needs = os.path.join(here, 'requirements', 'check_deploy.txt')
            subprocess.check_call([python, '-m', 'pip', 'install', '-q', '-r', needs])
        manifests = sorted(glob.glob(os.path.join(deploy, 'kubernetes', '*.yaml')))
        if not manifests:
            sys.exit('no manifests')
        subprocess.check_call([os.path.join(folder, 'bin', 'kubernetes-validate'), '--strict', *manifests])
        binary = args.espalier and os.path.abspath(args.espalier)
        if not binary:
            binary = os.path.join(scratch, 'binary')
            subprocess.check_call(['go', 'build', '-o', binary, './cmd/espalier'], cwd=os.path.join(here, '..'))
        schedule = os.path.abspath(os.path.join(deploy, 'schedule'))
        env = {
            **os.environ,
            'AIRFLOW_HOME': os.path.join(scratch, 'airflow'),
            'AIRFLOW__CORE__DAGS_FOLDER': schedule,
            'AIRFLOW__CORE__LOAD_EXAMPLES': 'False',
            'PYTHONDONTWRITEBYTECODE': '1',
        }
        work = os.path.join(scratch, 'work')
        os.mkdir(work)
        subprocess.run([os.path.join(folder, 'bin', 'airflow'), 'db', 'migrate'], env=env, check=True, capture_output=True)
        done = subprocess.run(
            [python, '-c', dag_check, os.path.join(schedule, 'airflow_dag.py'), work, binary],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        lines = done.stdout.splitlines()
        # Airflow's own test client warns of its HTTP library.
        if done.returncode or any('deprecated' in line and 'StarletteDeprecationWarning' not in line for line in lines):
            print(done.stdout, end='')
            sys.exit('airflow_dag.py: it fails, or uses what Airflow will remove')
        print(*(line for line in lines if line.startswith('ok: ')), sep='\n')


if __name__ == '__main__':
    main()
