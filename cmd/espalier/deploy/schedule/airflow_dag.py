"""A new tree every night, and predictions of the day by the tree in use, as a DAG of Airflow 3.

The day is the day of the DAG run, so a backfill trains and scores earlier days. predict runs after retrain, whatever
its outcome: if the gate refuses the new tree, the tree in use scores the day. The DAG run fails if either task fails.
Exit codes 2 and 4 (usage, gate) fail a task at once, because a person must look. After other exit codes, such as 3 of a
late file, Airflow tries again every half hour, for three hours. An attempt continues the work of the attempt before it.
"""

import subprocess
from datetime import datetime, timedelta

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException


def espalier(verb, day):
    command = ['espalier', verb, '--config', '/etc/espalier/nightly.yaml', '--date', day, '--progress', 'none']
    code = subprocess.run(command).returncode
    if code in (2, 4):
        raise AirflowFailException(f'espalier {verb} ended with exit code {code}')
    if code:
        raise RuntimeError(f'espalier {verb} ended with exit code {code}')


with DAG(
    dag_id='espalier_nightly',
    schedule='15 3 * * *',
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={
        'python_callable': espalier,
        'retries': 6,
        'retry_delay': timedelta(minutes=30),
        'execution_timeout': timedelta(hours=6),
    },
) as dag:
    retrain = PythonOperator(task_id='retrain', op_args=['retrain', '{{ ds }}'])
    predict = PythonOperator(task_id='predict', op_args=['predict', '{{ ds }}'], trigger_rule='all_done')
    # The last task decides the state of the DAG run; predict alone would hide a refused tree.
    both = EmptyOperator(task_id='both')
    retrain >> predict
    [retrain, predict] >> both
