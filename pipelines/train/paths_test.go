package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go" //nolint:depguard // writes and reads what this project's own writer and reader do not

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// printedRow has columns whose cuts and values are hard to print.
type printedRow struct {
	X       *float64 `parquet:"x,optional"`
	Seconds float64  `parquet:"unix seconds"`
	Whole   int64    `parquet:"whole"`
	Tiny    *float32 `parquet:"tiny,optional"`
	At      int64    `parquet:"at,timestamp(nanosecond)"`
	Seen    *int64   `parquet:"seen,optional,timestamp(millisecond)"`
	Day     int32    `parquet:"day,date"`
	Clock   int64    `parquet:"clock,time(microsecond)"`
	Job     *string  `parquet:"job and (rank) = \"x\",optional"`
	Flag    bool     `parquet:"flag"`
	Class   string   `parquet:"class"`
}

// scoredRow is what is predicted of a row.
type scoredRow struct {
	Leaf int32  `parquet:"leaf"`
	Path string `parquet:"path"`
}

func printedRows(n int) []printedRow {
	r := rand.New(rand.NewPCG(31, 37))
	jobs := []string{"clerk", "clerk ", "this and that", "a or b", `"quoted"`, "tab\there", "(x < 3)", "", strings.Repeat("long name ", 8), "-1.5"}
	list := make([]printedRow, n)
	for i := range list {
		p := &list[i]
		*p = printedRow{
			Seconds: 1.7e9 + math.Floor(r.Float64()*1e8)/64, Whole: 9e15 + r.Int64N(1000), At: 1.79e18 + r.Int64N(1e9), Day: r.Int32N(60000) - 20000,
			Clock: r.Int64N(86400e6), Flag: r.IntN(2) == 0,
		}
		if r.IntN(8) > 0 {
			x := r.NormFloat64() * 0.1
			p.X = &x
		}
		if r.IntN(8) > 0 {
			x := r.Float32() * 1e-12
			p.Tiny = &x
		}
		if r.IntN(8) > 0 {
			x := r.Int64N(4e12) - 2e12
			p.Seen = &x
		}
		if r.IntN(8) > 0 {
			p.Job = &jobs[r.IntN(len(jobs))]
		}
		p.Class = p.class(r)
	}
	return list
}

// class depends on all columns, so that a tree tests each column that a run has.
func (p *printedRow) class(r *rand.Rand) string {
	score := 0
	for _, yes := range []bool{
		p.X != nil && *p.X > 0.03, int64(p.Seconds)%50_000_000 > 20_000_000, p.Whole%100 < 50, p.Tiny == nil || *p.Tiny < 4e-13, p.At%1000_000_000 > 400_000_000,
		p.Seen == nil || *p.Seen > 1e11, p.Day > 5000, p.Clock%43200e6 > 20000e6, p.Job != nil && len(*p.Job) > 6, p.Flag,
	} {
		if yes {
			score++
		}
	}
	return []string{"low", "middle", "high"}[min(2, max(0, (score+r.IntN(3)-1)/4))]
}

// TestPrintedPaths: the printed path of a leaf is true of each row that reaches the leaf, and of no
// other row, also for values between the values of training.
func TestPrintedPaths(t *testing.T) {
	folder := t.TempDir()
	rows := printedRows(1000)
	training, all := filepath.Join(folder, "train.parquet"), filepath.Join(folder, "all.parquet")
	if err := parquet.WriteFile(training, rows[:500]); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(all, rows); err != nil {
		t.Fatal(err)
	}
	job := `job and (rank) = "x"`
	for name, c := range map[string]struct {
		family   split.Family
		features []string
	}{
		"numbers":    {split.Thresholds, []string{"x", "unix seconds", "whole", "tiny", "flag"}},
		"bins":       {split.Both, []string{"x", "unix seconds", "tiny"}},
		"categories": {split.OneHot, []string{job, "flag", "x"}},
		"multiway":   {split.Multiways, []string{job, "flag", "tiny"}},
		"times":      {split.Thresholds, []string{"at", "seen", "day", "clock"}},
		"time bins":  {split.Both, []string{"at", "seen", "day", "clock", job}},
	} {
		t.Run(name, func(t *testing.T) {
			settings := oneTree()
			settings.Input, settings.Label, settings.Output = []string{training}, "class", filepath.Join(t.TempDir(), "run")
			settings.Split, settings.Theta, settings.Tests = dataset.Shares{100, 0, 0}, []float64{0.02}, []split.Family{c.family}
			for _, column := range []string{"x", "unix seconds", "whole", "tiny", "at", "seen", "day", "clock", job, "flag"} {
				if !slices.Contains(c.features, column) {
					settings.Ignore = append(settings.Ignore, column)
				}
			}
			if _, err := train.Train(t.Context(), settings, new(silent)); err != nil {
				t.Fatal(err)
			}
			p := config.DefaultPredict()
			p.Model, p.Input, p.Output, p.Keep, p.Explain, p.Label = settings.Output, []string{all}, filepath.Join(t.TempDir(), "scored"), "all", true, "none"
			if _, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil {
				t.Fatal(err)
			}
			checkPaths(t, filepath.Join(p.Output, "all.parquet"), rows)
		})
	}
}

func checkPaths(t *testing.T, file string, rows []printedRow) {
	t.Helper()
	scored, err := parquet.ReadFile[scoredRow](file)
	if err != nil || len(scored) != len(rows) {
		t.Fatalf("%d rows, %v: want %d", len(scored), err, len(rows))
	}
	paths, texts := make(map[int32][]printedCondition), make(map[int32]string)
	for i := range scored {
		if s := &scored[i]; texts[s.Leaf] == "" {
			texts[s.Leaf] = s.Path
			if paths[s.Leaf], err = parsePath(s.Path); err != nil {
				t.Fatalf("%s: %v", s.Path, err)
			}
		}
	}
	if len(paths) < 8 {
		t.Errorf("%d leaves: the test shows little", len(paths))
	}
	faults := 0
	for i := range scored {
		s := &scored[i]
		values := rows[i].values()
		for leaf, path := range paths {
			if holds := holdsAll(t, path, values); holds != (leaf == s.Leaf) && faults < 5 {
				faults++
				t.Errorf("row %d is at leaf %d, and the path of leaf %d is %t of it: %s; values %v", i, s.Leaf, leaf, holds, texts[leaf], values)
			}
		}
	}
	t.Logf("%d rows, %d paths", len(scored), len(paths))
}

// values returns what a row holds: nil, a float64, a string, or a time.Time.
func (p *printedRow) values() map[string]any {
	v := map[string]any{
		"unix seconds": p.Seconds, "whole": float64(p.Whole), "flag": strconv.FormatBool(p.Flag), "at": time.Unix(0, p.At).UTC(),
		"day": time.Unix(int64(p.Day)*86400, 0).UTC(), "clock": time.UnixMicro(p.Clock).UTC(),
	}
	if p.X != nil {
		v["x"] = *p.X
	}
	if p.Tiny != nil {
		v["tiny"] = float64(*p.Tiny)
	}
	if p.Seen != nil {
		v["seen"] = time.UnixMilli(*p.Seen).UTC()
	}
	if p.Job != nil {
		v[`job and (rank) = "x"`] = *p.Job
	}
	return v
}

// printedCondition is one of the conditions of a path.
type printedCondition struct {
	column, op      string
	operands        []string
	missing, others bool // "or missing", "or another"
}

// parsePath reads a path by its text alone.
func parsePath(path string) (list []printedCondition, err error) {
	for path != "" {
		var c printedCondition
		open := strings.HasPrefix(path, "(")
		if open {
			path = path[1:]
		}
		if c.column, path, err = cutWord(path, " >= ", " < ", " = ", " != ", " in [", " not in [", " is "); err != nil {
			return nil, err
		}
		for _, op := range []string{" >= ", " < ", " = ", " != ", " in [", " not in [", " is not ", " is "} {
			if rest, ok := strings.CutPrefix(path, op); ok {
				c.op, path = strings.TrimSpace(op), rest
				break
			}
		}
		ends := []string{" and ", " or missing", " or another", ")"}
		if strings.HasSuffix(c.op, "[") {
			ends = []string{", "}
		}
		for {
			var operand string
			if operand, path, err = cutWord(path, ends...); err != nil {
				return nil, err
			}
			c.operands = append(c.operands, operand)
			rest, more := strings.CutPrefix(path, ", ")
			if !more {
				break
			}
			path, ends = rest, []string{")"}
		}
		if strings.HasSuffix(c.op, "[") {
			path = strings.TrimPrefix(path, ")")
		}
		path, c.missing = cutPrefix(path, " or missing")
		path, c.others = cutPrefix(path, " or another")
		if open {
			path = strings.TrimPrefix(path, ")")
		}
		list = append(list, c)
		rest, more := strings.CutPrefix(path, " and ")
		if path != "" && !more {
			return nil, fmt.Errorf("%q follows a condition", path)
		}
		path = rest
	}
	return list, nil
}

func cutPrefix(s, prefix string) (string, bool) { return strings.CutPrefix(s, prefix) }

// cutWord takes a name or value off, quoted or up to the first of the ends.
func cutWord(s string, ends ...string) (word, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", err
		}
		word, err = strconv.Unquote(quoted)
		return word, s[len(quoted):], err
	}
	at := len(s)
	for _, end := range ends {
		if i := strings.Index(s, end); i >= 0 {
			at = min(at, i)
		}
	}
	return s[:at], s[at:], nil
}

func holdsAll(t *testing.T, path []printedCondition, values map[string]any) bool {
	t.Helper()
	for i := range path {
		if !path[i].holds(t, values[path[i].column]) {
			return false
		}
	}
	return true
}

func (c *printedCondition) holds(t *testing.T, v any) bool {
	t.Helper()
	switch {
	case c.op == "is" || c.op == "is not":
		if c.operands[0] == "missing" {
			return (v == nil) == (c.op == "is")
		}
		t.Fatalf("%+v: the rows have no tail", c)
	case v == nil:
		return c.missing || strings.HasPrefix(c.op, "not") || c.op == "!="
	}
	switch c.op {
	case ">=":
		return compareTo(t, v, c.operands[0]) >= 0
	case "<":
		return compareTo(t, v, c.operands[0]) < 0
	case "=":
		return v == c.operands[0]
	case "!=":
		return v != c.operands[0]
	default:
		inside := compareTo(t, v, c.operands[0]) >= 0 && compareTo(t, v, c.operands[1]) < 0
		return inside == (c.op == "in [")
	}
}

// compareTo compares a value with a printed one, points in time by package time.
func compareTo(t *testing.T, v any, printed string) int {
	t.Helper()
	switch v := v.(type) {
	case float64:
		x, err := strconv.ParseFloat(printed, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(math.Copysign(1, v-x)) * min(1, int(math.Ceil(math.Abs(v-x))))
	case time.Time:
		for _, layout := range []string{"2006-01-02T15:04:05.999999", "2006-01-02"} {
			if at, err := time.Parse(layout, printed); err == nil {
				return v.Compare(at)
			}
		}
		at, err := time.Parse("2006-01-02 15:04:05.999999", "1970-01-01 "+printed)
		if err != nil {
			t.Fatal(err)
		}
		return v.Compare(at)
	default:
		t.Fatalf("%v against %s", v, printed)
		return 0
	}
}
