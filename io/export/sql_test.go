package export_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// verifySQL runs a tree in a dialect on its golden rows and on further ones.
func verifySQL(t *testing.T, m *tree.Tree, dialect string, more [][]export.Cell) {
	t.Helper()
	o := export.Options{Format: "sql", Dialect: dialect, With: export.With{Path: true}}
	verifyOptions(t, m, o, append(export.GoldenRows(m), more...))
}

// withColumns reads a tree of the tests of package tree. One of its features has an empty name,
// which no database takes for a column.
func withColumns(t *testing.T, name string) *tree.Tree {
	t.Helper()
	file, local := strings.CutSuffix(name, " local")
	m := read(t, "../../induce/tree/testdata/golden/"+file+".json").Tested()
	for i := range m.Features {
		if local && m.Features[i].Unit == dataset.Timestamp {
			m.Features[i].Zone = dataset.Local
		}
		if m.Features[i].Name == "" {
			m.Features[i].Name = "column without a name"
		}
	}
	return m
}

// TestSQL: each dialect predicts what the tree predicts, by the real database; that of BigQuery by
// its parser, and by DuckDB after a translation.
func TestSQL(t *testing.T) {
	t.Parallel()
	names := []string{"both", "dated", "dated local", "multiway", "boosted_sets", "decided", "decided_boosted", "decided_models"}
	if longtest.Enabled() {
		names = append(names, "billed", "boosted", "modelled", "onehot", "small", "threshold", "wishful")
	}
	random := rand.New(rand.NewPCG(19, 2))
	for _, name := range names {
		m := withColumns(t, name)
		rows := randomRows(random, m, 300)
		for _, dialect := range export.Dialects() {
			some := dialect == "sqlite" || name == "decided_boosted" || name == "dated local" || name == "decided_models" && dialect == "postgresql"
			if !some && !longtest.Enabled() {
				continue // a server takes seconds to start
			}
			t.Run(name+"/"+dialect, func(t *testing.T) {
				t.Parallel()
				verifySQL(t, m, dialect, rows)
			})
		}
	}
}

// TestHostileNamesInSQL: no name leaves its literal, its identifier or its comment.
func TestHostileNamesInSQL(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	sets := 1
	if longtest.Enabled() {
		sets = 40
	}
	for set := range sets {
		for _, name := range []string{"boosted", "multiway"} {
			for _, dialect := range export.Dialects() {
				if !longtest.Enabled() && (dialect == "spark" || name != "boosted") {
					continue
				}
				t.Run(fmt.Sprintf("%d/%s/%s", set, name, dialect), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(21, uint64(set)))
					m := renamed(t, read(t, "../../induce/tree/testdata/golden/"+name+".json"), random, func(r rune) bool { return r == 0 })
					for i := range m.Features { // no two names that are one column, and none empty
						m.Features[i].Name = fmt.Sprintf("%d%s", i, m.Features[i].Name)
						if dialect == "bigquery" { // has no column with a dot in its name, and sqlglot reads the dot as a path
							m.Features[i].Name = strings.ReplaceAll(m.Features[i].Name, ".", "_")
						}
					}
					verifySQL(t, m, dialect, randomRows(random, m, 50))
				})
			}
		}
	}
}

// TestDeepAndLargeSQL: no database finds a tree of 60 levels or of 5,000 leaves too much, or a single leaf too little.
func TestDeepAndLargeSQL(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	trees := map[string]*tree.Tree{"60 levels": chain(60), "single leaf": chain(0)}
	if longtest.Enabled() {
		trees["8192 leaves"] = bushy(13)
	}
	for name, m := range trees {
		for _, dialect := range export.Dialects() {
			if !longtest.Enabled() && (dialect == "spark" || dialect == "bigquery") {
				continue
			}
			t.Run(name+"/"+dialect, func(t *testing.T) {
				t.Parallel()
				verifySQL(t, m, dialect, nil)
			})
		}
	}
}

func TestRefusedSQL(t *testing.T) {
	t.Parallel()
	const golden = "../../induce/tree/testdata/golden/both.json"
	named := func(names ...string) *tree.Tree {
		m := read(t, golden).Tested()
		for i, name := range names {
			m.Features[i].Name = name
		}
		return m
	}
	nul := withColumns(t, "both")
	nul.Label.Classes[0] = "a\x00b"
	long := strings.Repeat("x", 63)
	for _, test := range []struct {
		name, dialect string
		tree          *tree.Tree
		want          string
	}{
		{"dialect", "oracle", named(), `--dialect "oracle": want one of postgresql,`},
		{"NUL", "postgresql", nul, "has a NUL, which texts of postgresql cannot hold"},
		{"empty", "duckdb", named(""), "no column of duckdb has this name"},
		{"case", "sqlite", named("a", "A"), "takes both names for the same column"},
		{"variable", "spark", named("${x}"), "Spark replaces ${..} by a variable"},
		{"long", "postgresql", named(long+"1", long+"2"), "takes both names for the same column"},
		{"deep", "bigquery", chain(500), "train it with a smaller --max_depth"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := export.Write(&bytes.Buffer{}, test.tree, export.Options{Format: "sql", Dialect: test.dialect})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: want %s", err, test.want)
			}
		})
	}
}

// TestKeywordsInSQL: a column may have the name of a word of the language. The words are the key words of SQLite, and the
// reserved words of PostgreSQL, DuckDB and BigQuery, by their documents.
func TestKeywordsInSQL(t *testing.T) {
	t.Parallel()
	words := strings.Fields(`abort action add after all alter always analyse analyze and anti any array as asc asof asymmetric attach
		authorization autoincrement before begin between binary both by cascade case cast check collate collation column columns
		commit concurrently conflict constraint contains create cross cube current current_catalog current_date current_schema
		current_time current_timestamp current_user database default deferrable define delete desc describe detach distinct do
		drop each else end enum escape except exclude exclusive exists explain extract fail false fetch filter first following
		for foreign freeze from full generated glob grant group groups having if ignore ilike immediate in index indexed
		initially inner insert instead intersect interval into is isnull join key lambda last lateral leading left like limit
		localtime localtimestamp lookup match materialized merge natural new no not nothing notnull null nulls of offset old on
		only or order others outer over overlaps partition pivot pivot_longer placing plan positional pragma preceding primary
		proto qualify query raise range recursive references regexp reindex release rename replace respect restrict returning
		right rollback rollup row rows savepoint select semi session_user set show similar some struct summarize symmetric
		system_user table tablesample temp temporary then ties to trailing transaction treat trigger true try_cast unbounded
		union unique unnest unpivot update user using vacuum values variadic verbose view virtual when where window with
		within without`)
	for _, dialect := range export.Dialects() {
		if !longtest.Enabled() && (dialect == "spark" || dialect == "bigquery") {
			continue
		}
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			for some := range slices.Chunk(words, 60) { // as many levels as in TestDeepAndLargeSQL
				m := chain(len(some))
				feature := m.Features[0]
				m.Features = nil
				for i, word := range some {
					feature.Name = word
					m.Features = append(m.Features, feature)
					m.Nodes[2*i].Test.Feature = i
				}
				verifySQL(t, m, dialect, nil)
			}
		})
	}
}
