"""A server of PostgreSQL for tests."""
import contextlib, glob, os, pwd, shutil, subprocess, sys, tempfile


def programs():
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True) + os.environ["PATH"].split(":"):
        if os.path.exists(os.path.join(folder, "initdb")):
            return folder
    sys.exit("initdb is not there")


@contextlib.contextmanager
def server():
    """A server of PostgreSQL on a socket in a temporary folder; yields psql's command."""
    folder, bin, user = tempfile.mkdtemp(prefix="espalier-pg-"), programs(), []
    if os.getuid() == 0:  # which the server refuses
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    run = lambda *c: subprocess.run([*user, *c], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    data = os.path.join(folder, "data")
    try:
        run(os.path.join(bin, "initdb"), "-D", data, "--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres")
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        run(os.path.join(bin, "pg_ctl"), "-D", data, "-w", "-l", os.path.join(folder, "log"), "-o", options, "start")
        try:
            yield ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", "postgres"]
        finally:
            run(os.path.join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
