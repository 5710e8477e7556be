#!/usr/bin/env python3
"""Holds the files for Kubernetes and Airflow against their own tools.

    bench/check_deploy.py [--environment FOLDER]

Each manifest of cmd/espalier/deploy/kubernetes must pass kubernetes-validate, which has the schemas of
Kubernetes, without a field that they do not know. The DAG must import under Airflow, have its one task and
its schedule, and end for each exit code of espalier as its text says.

Airflow needs versions of packages that others do not, so both tools lie in a virtual environment: FOLDER,
which is made if it is not there, or a new one that is removed at the end.
"""

import argparse, glob, os, subprocess, sys, tempfile, venv

here = os.path.dirname(os.path.abspath(__file__))
deploy = os.path.join(here, '..', 'cmd', 'espalier', 'deploy')

dag_check = '''
import importlib.util, os, sys
from airflow.sdk.exceptions import AirflowFailException

spec = importlib.util.spec_from_file_location('airflow_dag', sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
dag = module.dag
assert (dag.dag_id, [t.task_id for t in dag.tasks]) == ('espalier_retrain', ['retrain']), dag.tasks
assert dag.max_active_runs == 1 and not dag.catchup and '15 3 * * *' in str(dag.schedule), dag.schedule
task = dag.get_task('retrain')
assert task.retries == 3 and task.retry_delay.total_seconds() == 600, (task.retries, task.retry_delay)

folder = sys.argv[2]
stand_in = os.path.join(folder, 'espalier')  # ends with a code, and keeps its command line
os.environ['PATH'] = folder + os.pathsep + os.environ['PATH']
for code, wanted in [(0, None), (2, AirflowFailException), (3, AirflowFailException), (4, AirflowFailException),
                     (1, RuntimeError), (5, RuntimeError), (130, RuntimeError)]:
    with open(stand_in, 'w') as f:
        f.write(f'#!/bin/sh\\necho "$@" > {folder}/line\\nexit {code}\\n')
    os.chmod(stand_in, 0o700)
    try:
        task.python_callable(ds='2026-11-23')
        ended = None
    except Exception as e:
        ended = type(e)
    assert ended is wanted, (code, ended, wanted)
    line = open(os.path.join(folder, 'line')).read().strip()
    assert line == 'retrain /etc/espalier/nightly.yaml --date 2026-11-23 --progress none', line
import airflow
print('airflow', airflow.__version__, 'imports the DAG; 7 exit codes end as they should')
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--environment', help='virtual environment; default: a new one')
    folder = parser.parse_args().environment
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or os.path.join(scratch, 'environment')
        python = os.path.join(folder, 'bin', 'python')
        if not os.path.exists(python):
            venv.create(folder, with_pip=True)
            needs = os.path.join(here, 'requirements', 'check_deploy.txt')
            subprocess.check_call([python, '-m', 'pip', 'install', '-q', '-r', needs])
        manifests = sorted(glob.glob(os.path.join(deploy, 'kubernetes', '*.yaml')))
        if not manifests:
            sys.exit('no manifests')
        subprocess.check_call([os.path.join(folder, 'bin', 'kubernetes-validate'), '--strict', *manifests])
        done = subprocess.run(
            [python, '-c', dag_check, os.path.join(deploy, 'schedule', 'airflow_dag.py'), scratch],
            env={**os.environ, 'AIRFLOW_HOME': os.path.join(scratch, 'airflow')},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        print(done.stdout, end='')
        if done.returncode or 'deprecated' in done.stdout:
            sys.exit('airflow_dag.py: it fails, or uses what Airflow will remove')


if __name__ == '__main__':
    main()
