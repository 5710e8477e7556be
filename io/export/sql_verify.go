package export

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
)

//go:embed drivers/run_sql.py drivers/pg_server.py drivers/RunSQL.java
var databases embed.FS

// sqlNeeds returns what people install to run a dialect, and a command that fails without it.
func sqlNeeds(dialect string) (needs string, probe []string) {
	modules := func(list string) []string { return []string{"python3", "-c", "import " + list} }
	switch dialect {
	case "postgresql":
		return "Python 3 and a server of PostgreSQL: apt-get install postgresql", []string{"psql", "--version"}
	case "sqlite":
		return "Python 3 with sqlite3", modules("sqlite3")
	case "duckdb":
		return "Python 3 with duckdb and pyarrow: pip install duckdb pyarrow", modules("duckdb, pyarrow")
	case "bigquery":
		return "Python 3 with sqlglot, duckdb and pyarrow: pip install sqlglot duckdb pyarrow",
			modules("sqlglot, duckdb, pyarrow")
	default:
		return "a JDK and the jars of Spark, in the folder that ESPALIER_SPARK names", []string{"java", "-version"}
	}
}

// runsSQL reports whether the database of a dialect is installed.
func runsSQL(o Options) bool {
	if _, err := dialectOf(o.Dialect); err != nil {
		return false
	}
	_, probe := sqlNeeds(o.Dialect)
	if exec.Command(probe[0], probe[1:]...).Run() != nil {
		return false
	}
	switch o.Dialect {
	case "spark":
		return os.Getenv("ESPALIER_SPARK") != ""
	case "postgresql":
		found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		_, missing := exec.LookPath("initdb")
		return err == nil && len(found) > 0 || missing == nil
	default:
		return true
	}
}

// runSQL readies a file to be run by its database.
func runSQL(_ context.Context, t *tree.Tree, o Options) (runner, error) {
	if !runsSQL(o) {
		needs, _ := sqlNeeds(o.Dialect)
		return nil, usage.Errorf("--verify runs the file: install %s", needs)
	}
	o.Name = ""
	o.Table = ""
	o.With = With{Cost: true, Leaf: true, Path: o.With.Path}
	s, err := newSQL(t, o)
	if err != nil {
		return nil, fmt.Errorf("--format %s: %w", o.Format, err)
	}
	files := map[string][]byte{"model.sql": s.file()}
	if files["config.json"], err = s.config(); err != nil {
		return nil, err
	}
	s.numbered = true // golden rows have numbers that no column of dates holds
	files["numbers.sql"] = s.file()
	for _, name := range []string{"run_sql.py", "pg_server.py", "RunSQL.java"} {
		if files[name], err = databases.ReadFile("drivers/" + name); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return newBenchOf([]string{"python3", "run_sql.py"}, files)
}

// config returns the configuration of the driver.
func (s *sqlText) config() ([]byte, error) {
	type featureOf struct {
		Column  string `json:"column"`
		Numeric bool   `json:"numeric"`
		Unit    string `json:"unit"`
		Typed   string `json:"typed"` // the type of a column of dates; empty if it holds numbers or texts
	}
	taken := newNames(nil)
	features := []featureOf{} // null would be no list
	for _, f := range s.Features {
		column := cutTo(f.Name, s.dialect.longest)
		taken.take(cutTo(f.Name, s.dialect.longest))
		typed, _ := s.moment(f)
		features = append(features, featureOf{column, f.Numeric, f.Unit, typed.typed})
	}
	integer := "BIGINT"
	types := map[string]string{"integer": integer, "number": s.dialect.double, "text": s.dialect.text}
	if s.dialect.name == "bigquery" { // DuckDB stands in
		types["number"], types["text"] = "DOUBLE", "VARCHAR"
	}
	key := taken.take("row_at")
	path := ""
	paths := make(map[int]string)
	if s.With.Path {
		path = s.path
		texts := textview.Paths(s.tree)
		for i := range s.Leaves {
			paths[s.Leaves[i].Node] = texts[s.Leaves[i].Index]
		}
	}
	b, err := json.Marshal(map[string]any{
		"dialect": s.dialect.name, "features": features, "types": types, "key": key, "key_sql": key,
		"prediction": s.outputs[0], "probabilities": s.outputs[1:],
		"leaf": s.leaf, "tests": s.tests, "cost": s.cost, "path": path, "paths": paths,
		"function": s.callable(),
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return b, nil
}
