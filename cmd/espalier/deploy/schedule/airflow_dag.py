"""A new tree every night, as a DAG of Airflow 3.

The day of the run is that of the DAG, so a backfill trains for days gone by. Exit codes 2, 3 and 4 (usage, data, gate)
fail the task at once, as trying again does not help. After the others Airflow tries again, and the attempt goes on in
the same run folder.
"""

import subprocess
from datetime import datetime, timedelta

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException


def retrain(ds):
    command = ['espalier', 'retrain', '/etc/espalier/nightly.yaml', '--date', ds, '--progress', 'none']
    code = subprocess.run(command).returncode
    if code in (2, 3, 4):
        raise AirflowFailException(f'espalier ended with exit code {code}')
    if code:
        raise RuntimeError(f'espalier ended with exit code {code}')


with DAG(
    dag_id='espalier_retrain',
    schedule='15 3 * * *',
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={'retries': 3, 'retry_delay': timedelta(minutes=10), 'execution_timeout': timedelta(hours=6)},
) as dag:
    PythonOperator(task_id='retrain', python_callable=retrain)
