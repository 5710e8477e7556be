"""Runs a file of SQL in its database on rows, and prints the predictions."""
import hashlib, json, math, os, re, subprocess, sys, urllib.parse, datetime

from pg_server import server

with open("config.json", encoding="utf-8") as f:
    config = json.load(f)
features, key, dialect = config["features"], config["key"], config["dialect"]


def cell(text):
    if text == "?":
        return None
    if text.startswith("="):
        return urllib.parse.unquote(text[1:])
    return float(text)


def moment(x, unit):
    """The value of a column of dates or times; LookupError if there is none for the number."""
    if x is None or x != x:
        return None
    if isinstance(x, str):  # a category that is a count
        if not re.fullmatch("0|-?[1-9][0-9]{,17}", x):
            raise LookupError
        x = int(x)
    epoch = datetime.datetime(1970, 1, 1)
    ends = {"date": (-719162, 2932896), "time": (0, 86399999999), "timestamp": (-62135596800000000, 253402300799999999)}
    low, high = ends[unit]
    if not low <= x <= high or x != math.floor(x):
        raise LookupError
    if unit == "date":
        return (epoch + datetime.timedelta(days=x)).date().isoformat()
    when = epoch + datetime.timedelta(microseconds=int(x))
    return when.time().isoformat("microseconds") if unit == "time" else when.isoformat(" ", "microseconds")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def columns(typed):
    """Names and types of the columns of the table."""
    types = config["types"]
    list = [(key, types["integer"])]
    for f in features:
        list.append((f["column"], f["typed"] if typed and f["typed"] else types["number" if f["numeric"] else "text"]))
    return list


def definition(typed):
    return "CREATE TABLE input_rows (" + ", ".join(quoted(n) + " " + t for n, t in columns(typed)) + ")"


result = ["leaf", "tests", "cost", *config["probabilities"]]
wanted = ", ".join([config["key_sql"], config["prediction"], config["leaf"], config["tests"], config["cost"],
                    *config["probabilities"]])
if config["path"] and dialect != "spark":
    wanted += ", " + config["path"]


def sqlite(source, rows, typed):
    import sqlite3
    db = sqlite3.connect(":memory:")
    db.execute(definition(typed))
    db.executemany("INSERT INTO input_rows VALUES (" + ",".join("?" * (len(features) + 1)) + ")", rows)
    db.executescript(source)
    return db.execute(f"SELECT {wanted} FROM model ORDER BY 1").fetchall()


def duckdb(source, rows, typed):
    import duckdb, pyarrow as pa
    db = duckdb.connect()
    db.execute(definition(typed))
    arrays = []
    for i, (_, kind) in enumerate(columns(typed)):
        as_type = {"BIGINT": pa.int64(), "DOUBLE": pa.float64()}.get(kind, pa.string())
        arrays.append(pa.array([r[i] for r in rows], as_type))
    loaded = pa.table(arrays, [f"c{i}" for i in range(len(arrays))])
    db.register("loaded", loaded)
    db.execute("INSERT INTO input_rows SELECT * FROM loaded")
    db.execute(source)
    return db.execute(f"SELECT {wanted} FROM model ORDER BY 1").fetchall() + functions(db, config)


def functions(db, config):
    """What the function predicts for the first rows, under the same keys."""
    if not config["function"]:
        return []
    call = "model_row(" + ", ".join("t." + quoted(f["column"]) for f in features) + ")"
    outputs = wanted.split(", ", 1)[1]
    return db.execute(f"SELECT t.{quoted(key)}, {outputs} FROM (SELECT * FROM input_rows WHERE {quoted(key)} < 100) AS t, "
                      f"LATERAL (SELECT * FROM {call}) AS p").fetchall()


def bigquery(source, rows, typed):
    """Parsed as BigQuery's, and run by DuckDB."""
    # Parsing a large tree takes a minute, and there is a call for each batch of rows.
    kept = f"duckdb-{hashlib.sha256(source.encode()).hexdigest()}.sql"
    if not os.path.exists(kept):
        with open(kept, "w", encoding="utf-8", newline="") as f:
            f.write(translated(source))
    with open(kept, encoding="utf-8", newline="") as f:
        text = f.read()
    plain = dict(config)
    config["function"] = False
    try:
        return duckdb(text, rows, typed)
    finally:
        config.update(plain)


def translated(source):
    """The view of BigQuery in the SQL of DuckDB."""
    import sqlglot
    from sqlglot import exp
    statements = [s for s in sqlglot.parse(source, read="bigquery") if s is not None]
    assert [s.kind for s in statements] == ["VIEW", "FUNCTION"][:len(statements)], "not two statements"
    view = statements[0]

    def exact(node):
        if isinstance(node, exp.Collate):  # '' is no collation
            return node.this
        # BigQuery reads these as doubles, DuckDB as decimals
        if isinstance(node, exp.Literal) and not node.is_string and re.search("[.e]", node.this):
            return exp.cast(exp.Literal.string(node.this), "DOUBLE")
        return node
    return view.transform(exact).sql("duckdb").replace("p.source_row.*", "UNNEST(p.source_row)")


def copied(value):
    if value is None:
        return r"\N"
    if isinstance(value, str):
        return value.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")
    return repr(value)


def uncopied(text):
    codes = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v"}
    return re.sub(r"\\(.)", lambda m: codes.get(m[1], m[1]), text)


def postgresql(source, rows, typed):
    lines = ["SET client_min_messages = warning;", "SET jit = off;", "SET timezone = 'UTC';", definition(typed) + ";",
             "COPY input_rows FROM STDIN;"]
    lines += ["\t".join(map(copied, r)) for r in rows] + ["\\.", "ANALYZE;", source]
    zoned = [f["column"] for f in features if typed and f["typed"].endswith("with time zone")]
    for zone in ["UTC", "America/New_York", "Asia/Kolkata"]:
        lines.append(f"SET timezone = '{zone}';")
        lines.append(f"COPY (SELECT {wanted} FROM model ORDER BY 1) TO STDOUT;")
        for within in [zoned, []] if config["function"] and zoned else [[]] * config["function"]:
            values = [f"t.{quoted(f['column'])}" + " AT TIME ZONE 'UTC'" * (f["column"] in within) for f in features]
            outputs = wanted.split(", ", 1)[1]
            lines.append(f"COPY (SELECT t.{quoted(key)}, {outputs} FROM (SELECT * FROM input_rows WHERE {quoted(key)} < 100) AS t "
                         f"CROSS JOIN LATERAL model_row({', '.join(values)}) AS p) TO STDOUT;")
    with server() as psql:
        done = subprocess.run(psql, input="\n".join(lines).encode(), stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(1)
    out = []
    for line in done.stdout.decode().removesuffix("\n").split("\n"):
        at, prediction, *rest = map(uncopied, line.split("\t"))
        texts = len(rest) - len(result)
        out.append((int(at), prediction, *map(float, rest[:len(result)]), *rest[len(rest) - texts:]))
    return out


def spark(source, rows, typed):
    """By the jars of the folder of ESPALIER_SPARK."""
    spell = lambda v: "?" if v is None else "=" + urllib.parse.quote(v, safe="") if isinstance(v, str) else repr(v).lower()
    with open("spark.sql", "w", encoding="utf-8", newline="") as f:
        f.write(source.strip().removesuffix(";"))
    with open("spark.txt", "w", encoding="ascii") as f:
        f.write("\t".join(urllib.parse.quote(n, safe="") + ":" + t for n, t in columns(typed)) + "\n")
        f.write(urllib.parse.quote(f"SELECT {wanted} FROM model", safe="") + "\n")
        f.writelines("\t".join(map(spell, r)) + "\n" for r in rows)
    opens = ["lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic"]
    opens = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in opens]
    opens += [f"--add-opens=java.base/sun.{p}=ALL-UNNAMED" for p in ["nio.ch", "nio.cs", "security.action", "util.calendar"]]
    jars = os.path.join(os.environ["ESPALIER_SPARK"], "*")
    done = subprocess.run(["java", "-Xss64m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", *opens, "-cp", jars, "RunSQL.java"],
                          stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(1)
    out = []
    for line in done.stdout.decode().splitlines():
        at, prediction, *numbers = line.split("\t")
        out.append((int(at), urllib.parse.unquote(prediction), *map(float, numbers)))
    return out


def main():
    run = globals()[dialect]
    dated = [(i, f["unit"]) for i, f in enumerate(features) if f["typed"]]
    typed, plain = [], []  # rows of dates, and rows of numbers that are no date
    with open(sys.argv[1], encoding="ascii") as f:
        for at, line in enumerate(f):
            row = [cell(text) for text in line.rstrip("\n").split("\t")] if features else []
            try:
                changed = list(row)
                for i, unit in dated:
                    changed[i] = moment(row[i], unit)
                typed.append((at, *changed))
            except LookupError:
                plain.append((at, *row))
    out = {}
    for name, rows, is_typed in [("model.sql", typed, True), ("numbers.sql", plain, False)]:
        if not rows:
            continue
        with open(name, encoding="utf-8", newline="") as f:
            source = f.read()
        for at, *values in run(source, rows, is_typed):
            if at in out and dict(enumerate(out[at])) != dict(enumerate(values)):
                sys.exit(f"row {at}: the view gives {out[at]}, the function {values}")
            out[at] = values
    for at in range(len(typed) + len(plain)):
        if at not in out:
            sys.exit(f"row {at} is lost")
        prediction, leaf, tests, cost, *probabilities = out[at]
        for path in probabilities[len(config["probabilities"]):]:
            if path != config["paths"][str(int(leaf))]:
                sys.exit(f"row {at}, leaf {leaf}: the path is {path!r}")
        probabilities = probabilities[:len(config["probabilities"])]
        print(int(leaf), int(tests), repr(float(cost)), "=" + urllib.parse.quote(prediction, safe=""),
              *(repr(float(p)) for p in probabilities))


main()
