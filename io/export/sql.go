package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// dialect describes how a database expresses what all dialects of SQL express. Its language writes
// the conditions.
type dialect struct {
	name     string
	language language

	identifier func(string) string
	longest    int  // greatest length of an identifier in bytes; 0: unlimited
	sensitive  bool // whether names that differ only in case are two columns
	nul        bool // whether texts may contain a NUL

	double, text, whole string // types
	number              string // the value of a numeric column, without NaN
	textual             string // the value of a categorical column
	moments             map[string]moment
	greatest            string
	row                 string                    // all columns of a row of the table r, as a single value; empty if impossible
	columns             string                    // all columns of the source row
	fence               string                    // follows a step that must not be copied into the next
	before              func(s *sqlText) []string // statements that make room for the view and the function; may be nil
	view                string                    // begins the statement; %s: the name
	after               []string                  // statements at the end
	function            func(s *sqlText) []string
	dropped             string // drops an earlier function if the file has none; %s: the view's name
	uses                string // how the function is called; %[1]s: the view's name, %[2]s: the columns
	deepest             int    // greatest number of steps
	advice              string // precedes queries; may be empty
}

// moment is how a date or time is converted to a number. No conversion depends on the time zone of
// the session.
type moment struct{ typed, number string }

// localTimestamp is the key of the moment of local timestamps, if it differs from the moment of UTC
// timestamps.
const localTimestamp = "local timestamp"

// moment returns how the values of a feature are converted to numbers; ok is false if they are
// plain numbers or texts.
func (s *sqlText) moment(f feature) (m moment, ok bool) {
	if s.numbered {
		return m, false
	}
	if m, ok = s.dialect.moments[localTimestamp]; ok && f.Local {
		return m, true
	}
	m, ok = s.dialect.moments[f.Unit]
	return m, ok
}

const sqlFormat = "sql"

// Dialects lists the dialects of format sql.
func Dialects() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

func dialectOf(name string) (*dialect, error) {
	all := dialects()
	if at := slices.IndexFunc(all, func(d dialect) bool { return d.name == name }); at >= 0 {
		return &all[at], nil
	}
	return nil, usage.Errorf("--dialect %q: want one of %s", name, strings.Join(Dialects(), ", "))
}

func dialects() []dialect {
	return []dialect{postgresql(), sqlite(), duckdb(), spark(), bigquery()}
}

// sqlLanguage returns the conditions of all dialects: a missing value is NULL, and no comparison
// with it is true.
func sqlLanguage(text func(string) string, number func(float64) string) language {
	return language{
		format: sqlFormat, name: "model",
		keywords: reserved(`add all alter analyse analyze and anti any array as asc asof assert_rows_modified
			asymmetric at at_leaf authorization autoincrement between binary both by case cast check collate
			collation column columns commit concurrently constraint contains create cross cube current
			current_catalog current_date current_role current_schema current_time current_timestamp current_user
			date default deferrable define delete desc describe distinct do drop else end enum escape except
			exclude exists extract false fetch filter following for foreign freeze from full function generated
			glob grant group grouping groups hash having if ignore ilike in index initially inner insert intersect
			interval into is isnull join key lambda lateral leading left like limit localtime localtimestamp lookup
			map match merge model_leaves natural new no not nothing notnull null nulls of off offset old on only or
			order outer over overlaps partition path_text pivot pivot_longer pivot_wider placing positional
			preceding primary proto qualify raise range recursive references respect returning right rollup row
			rows select semi session_user set show similar some source_row struct summarize symmetric system_user
			table tablesample then time timestamp to top trailing transaction treat true try_cast tuple unbounded
			union unique unnest unpack unpivot update user using value values variadic verbose view when where
			window with within without leaf tests cost path prediction`),
		field: snake, constant: snake, text: text, number: number,
		indent: "  ", open: "CASE WHEN %s THEN", elseIf: "WHEN %s THEN", otherwise: "ELSE", end: "END", or: " OR ",
		leaf: "%d", calls: "-%d", numberOf: "%s", textOf: "%s", comment: "  -- ",
		between: "%[1]s >= %[2]s AND %[1]s < %[3]s", present: "%s IS NOT NULL", missing: "%s IS NULL",
		same: "%s = %s", lacking: "%s IS NULL",
		member: func(name string, _ int, values []string, inverse bool) string {
			switch {
			case len(values) == 0:
				return name + " IS NOT NULL"
			case inverse:
				return name + " NOT IN (" + each(values, text) + ")"
			default:
				return name + " IN (" + each(values, text) + ")"
			}
		},
	}
}

func postgresql() dialect {
	epoch := "CAST(EXTRACT(EPOCH FROM %s) * 1000000 AS double precision)"
	return dialect{
		name: "postgresql", language: sqlLanguage(quotedByParts("chr"), number), identifier: doubled, longest: 63,
		sensitive: true, double: "double precision", text: "text", whole: "bigint",
		number: "NULLIF(CAST(%s AS double precision), 'NaN')", textual: `CAST(%s AS text) COLLATE "C"`,
		moments: map[string]moment{
			"date":      {"date", "CAST(%s - DATE '1970-01-01' AS double precision)"},
			"time":      {"time without time zone", epoch},
			"timestamp": {withZone, epoch}, localTimestamp: {withoutZone, epoch},
		},
		greatest: "GREATEST", row: "r", columns: "(p.source_row).*", fence: " OFFSET 0",
		before: postgresBefore, view: "CREATE OR REPLACE VIEW %s AS", function: postgresFunction, deepest: 40,
		after:  []string{"", "COMMIT;"},
		uses:   "SELECT t.*, p.* FROM your_table AS t CROSS JOIN LATERAL %[1]s_row(%[2]s) AS p",
		advice: "SET jit = off before a query: compiling the conditions takes longer than to run them.",
	}
}

func sqlite() dialect {
	l := sqlLanguage(quotedByParts("char"), sqliteNumber)
	l.nesting = 8 // the stack of its parser
	return dialect{
		name: "sqlite", language: l, identifier: doubled, nul: true, double: "REAL", text: "TEXT", whole: "INTEGER",
		number:  "CASE WHEN typeof(%[1]s) IN ('integer', 'real') OR %[1]s = CAST(%[1]s AS REAL) THEN CAST(%[1]s AS REAL) END",
		textual: "CAST(%s AS TEXT) COLLATE BINARY", moments: map[string]moment{},
		greatest: "MAX", columns: "r.*", view: "CREATE VIEW %s AS", deepest: 40,
		before: func(s *sqlText) []string { return []string{"SAVEPOINT export;", "DROP VIEW IF EXISTS " + s.Name + ";"} },
		after:  []string{"", "RELEASE export;"},
	}
}

func duckdb() dialect {
	return dialect{
		name: "duckdb", language: sqlLanguage(quotedByParts("chr"), duckNumber), identifier: doubled, nul: true,
		double: "DOUBLE", text: "VARCHAR", whole: "BIGINT", number: "NULLIF(CAST(%s AS DOUBLE), CAST('NaN' AS DOUBLE))",
		textual: `CAST(%s AS VARCHAR) COLLATE "binary"`,
		moments: map[string]moment{
			"date":      {"DATE", "CAST(%s - DATE '1970-01-01' AS DOUBLE)"},
			"time":      {"TIME", "CAST(date_diff('microsecond', TIME '00:00', %s) AS DOUBLE)"},
			"timestamp": {"TIMESTAMP", "CAST(epoch_us(%s) AS DOUBLE)"},
		},
		greatest: "greatest", row: "r", columns: "UNNEST(p.source_row)",
		view: "CREATE OR REPLACE VIEW %s AS", function: duckFunction, deepest: 40,
		dropped: "DROP MACRO TABLE IF EXISTS %s_row;",
		uses:    "SELECT t.*, p.* FROM your_table AS t, LATERAL (SELECT * FROM %[1]s_row(%[2]s)) AS p",
	}
}

func spark() dialect {
	return dialect{
		name: "spark", language: sqlLanguage(quotedBackslash, suffixed("D")), identifier: backticks, nul: true,
		double: "DOUBLE", text: "STRING", whole: "BIGINT", number: "NULLIF(CAST(%s AS DOUBLE), DOUBLE('NaN'))", textual: "CAST(%s AS STRING)",
		moments: map[string]moment{
			"date":      {"DATE", "CAST(datediff(%s, DATE '1970-01-01') AS DOUBLE)"},
			"timestamp": {"TIMESTAMP", sparkMicros}, localTimestamp: {"TIMESTAMP_NTZ", sparkMicros},
		},
		greatest: "greatest", row: "struct(r.*)", columns: "p.source_row.*",
		view: "CREATE OR REPLACE TEMPORARY VIEW %s AS", deepest: 40,
	}
}

// sparkMicros counts timestamps of both types of Spark. unix_micros accepts timestamps without a
// time zone only by a cast, which would use the time zone of the session.
const sparkMicros = "CASE typeof(%[1]s) WHEN 'timestamp_ntz' THEN CAST(CAST(CAST(%[1]s AS TIMESTAMP_NTZ) - " +
	"TIMESTAMP_NTZ '1970-01-01 00:00:00' AS INTERVAL SECOND) AS DECIMAL(38, 6)) * 1000000D ELSE " +
	"CAST(unix_micros(CAST(%[1]s AS TIMESTAMP)) AS DOUBLE) END"

func bigquery() dialect {
	return dialect{
		name: "bigquery", language: sqlLanguage(quotedBackslash, number), identifier: backslashTicks, nul: true,
		double: "FLOAT64", text: "STRING", whole: "INT64", number: "IF(IS_NAN(CAST(%[1]s AS FLOAT64)), NULL, CAST(%[1]s AS FLOAT64))",
		textual: "COLLATE(CAST(%s AS STRING), '')",
		moments: map[string]moment{
			"date":      {"DATE", "CAST(UNIX_DATE(%s) AS FLOAT64)"},
			"time":      {"TIME", "CAST(TIME_DIFF(%s, TIME '00:00:00', MICROSECOND) AS FLOAT64)"},
			"timestamp": {"TIMESTAMP", "CAST(UNIX_MICROS(%s) AS FLOAT64)"},
			localTimestamp: {
				"DATETIME", "CAST(DATETIME_DIFF(%s, DATETIME '1970-01-01', MICROSECOND) AS FLOAT64)",
			},
		},
		greatest: "GREATEST", row: "r", columns: "p.source_row.*",
		view: "CREATE OR REPLACE VIEW %s AS", function: bigFunction, deepest: 12,
		dropped: "DROP FUNCTION IF EXISTS %s_row;",
		uses:    "SELECT t.*, %[1]s_row(%[2]s).* FROM your_table AS t",
	}
}

// sqlFiles returns the format of all dialects.
func sqlFiles() fileFormat {
	return fileFormat{
		name: sqlFormat, paths: true,
		write: func(t *tree.Tree, o Options) ([]byte, error) {
			s, err := newSQL(t, o)
			if err != nil {
				return nil, err
			}
			return s.file(), nil
		},
		run:  runSQL,
		runs: runsSQL,
	}
}

// defaultTable is the table of the rows if no other is named.
const defaultTable = "input_rows"

// newSQL returns the data from which the file of a tree is written.
func newSQL(t *tree.Tree, o Options) (*sqlText, error) {
	d, err := dialectOf(o.Dialect)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(t, &d.language, o)
	if err != nil {
		return nil, err
	}
	if o.Table == "" {
		o.Table = defaultTable
	}
	s := &sqlText{program: p, dialect: d, options: o}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.name()
	return s, nil
}

// check returns an error for trees that the database cannot express.
func (s *sqlText) check() error {
	const suffix = len("_exponentials") // the longest
	if s.dialect.longest > 0 && len(s.Name)+suffix > s.dialect.longest {
		return usage.Errorf("--name: %s keeps %d bytes of a name; take one of at most %d", s.dialect.name, s.dialect.longest,
			s.dialect.longest-suffix)
	}
	columns := make(map[string]string)
	for _, f := range s.Features {
		if err := s.checkFeature(&f, columns); err != nil {
			return err
		}
	}
	if !s.dialect.nul && slices.ContainsFunc(s.Label.Classes, hasNUL) {
		return fmt.Errorf("some class has a NUL, which texts of %s cannot hold", s.dialect.name)
	}
	if steps := len(s.levels()); steps > s.dialect.deepest {
		return fmt.Errorf("the tree needs %d steps, one in another, and %s bears %d: train it with a smaller --max_depth",
			steps, s.dialect.name, s.dialect.deepest)
	}
	return nil
}

// checkFeature returns an error for a feature that no column can have. columns has the features of
// earlier columns.
func (s *sqlText) checkFeature(f *feature, columns map[string]string) error {
	switch {
	case f.Name == "" || hasNUL(f.Name):
		return fmt.Errorf("feature %q: no column of %s has this name", f.Name, s.dialect.name)
	case s.dialect.name == "spark" && strings.Contains(f.Name, "${"):
		return fmt.Errorf("feature %s: Spark replaces ${..} by a variable, even in names of columns", short(f.Name))
	case !s.dialect.nul && slices.ContainsFunc(f.Values, hasNUL):
		return fmt.Errorf("feature %q: some value has a NUL, which texts of %s cannot hold", f.Name, s.dialect.name)
	}
	key := cutTo(f.Name, s.dialect.longest)
	if !s.dialect.sensitive {
		key = strings.ToLower(key)
	}
	if other, ok := columns[key]; ok {
		return fmt.Errorf("features %s and %s: %s takes both names for the same column", short(other), short(f.Name),
			s.dialect.name)
	}
	columns[key] = f.Name
	return nil
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }
