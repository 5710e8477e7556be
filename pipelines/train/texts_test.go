package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go" //nolint:depguard // reads what this project's own reader does not

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/importing"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// texts has columns of texts by name.
type texts map[string][]string

// textRows returns n rows of texts, whose class depends on each column. Numbers and points in time are spelled
// in several ways, and 1 in 20 is missing.
func textRows(r *rand.Rand, n int) texts {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	rows := make(texts)
	for range n {
		at := start.Add(time.Duration(r.Int64N(int64(500 * 24 * time.Hour)))).Truncate(time.Second)
		whole, decimal := r.IntN(90), r.NormFloat64()
		local := at.Format([]string{time.DateTime, "2006-01-02T15:04:05", "2006-1-2 15:04:05", "20060102T150405"}[r.IntN(4)])
		utc := at.Format([]string{"2006-01-02 15:04:05Z07", "2006-01-02 15:04:05 UTC", time.RFC3339}[r.IntN(3)])
		if r.IntN(4) == 0 {
			utc = at.In(time.FixedZone("", 5400)).Format("2006-01-02 15:04:05 -0700")
		}
		values := map[string]string{
			"whole": strconv.Itoa(whole - 20), "decimal": strconv.FormatFloat(decimal, 'g', 6, 64), "local": local, "utc": utc,
			"day": at.Format(time.DateOnly), "clock": at.Format([]string{time.TimeOnly, "15:04"}[r.IntN(2)]),
		}
		for name := range values {
			if r.IntN(20) == 0 {
				values[name] = ""
			}
		}
		values["zip"] = fmt.Sprintf("0%d", r.IntN(5)) // a code
		values["account"] = strconv.Itoa(90071992547409930 + r.IntN(4))
		values["word"] = string(rune('a' + r.IntN(5)))
		values["flag"] = strconv.FormatBool(r.IntN(2) == 0)
		score := 0
		for _, high := range []bool{
			whole > 45, decimal > 0, at.After(start.AddDate(0, 8, 0)), at.Hour() > 11, values["zip"] > "02", values["word"] > "b", values["flag"] == "true",
		} {
			if high {
				score++
			}
		}
		values["class"] = map[bool]string{true: "high", false: "low"}[score+r.IntN(2) > 3]
		for name, text := range values {
			rows[name] = append(rows[name], text)
		}
	}
	return rows
}

// parquet writes the rows as texts, with nulls in place of every other empty text.
func (x texts) parquet(t *testing.T, folder string) string {
	t.Helper()
	var columns []parquetio.WriteColumn
	for _, name := range x.names() {
		values := make([]*string, len(x[name]))
		for i := range values {
			if text := &x[name][i]; *text != "" || i%2 == 0 {
				values[i] = text
			}
		}
		columns = append(columns, parquetio.WriteColumn{Name: name, Values: values})
	}
	url := filepath.Join(folder, "part-00000.parquet")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{RowsPerGroup: 130}); err != nil {
		t.Fatal(err)
	}
	return url
}

// imported imports the rows from a CSV file, with the same name and row groups.
func (x texts) imported(t *testing.T, folder string) string {
	t.Helper()
	names := x.names()
	lines := []string{strings.Join(names, ",")}
	for i := range x[names[0]] {
		var fields []string
		for _, name := range names {
			fields = append(fields, x[name][i])
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	c := config.DefaultImport()
	c.Files, c.Output, c.RowsPerGroup = []string{textFile(t, "rows.csv", strings.Join(lines, "\n")+"\n")}, folder, 130
	if _, err := importing.Import(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(folder + "/*.parquet")
	if err != nil || len(found) != 1 || filepath.Base(found[0]) != "part-00000.parquet" {
		t.Fatal(found, err)
	}
	return found[0]
}

func (x texts) names() []string {
	var names []string
	for name := range x {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// document reads a document of a run.
func document(t *testing.T, run, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTexts: Parquet files of texts give the trees, predictions and contracts that the same texts give by way of
// import, which reads them as numbers, dates and times.
func TestTexts(t *testing.T) {
	longtest.Skip(t)
	r := rand.New(rand.NewPCG(5, 8))
	for _, change := range []func(c *config.Train){
		func(*config.Train) {},
		func(c *config.Train) { c.SplitTime, c.Numeric = "utc", []string{"decimal"} },
		func(c *config.Train) { c.SplitTime, c.Ignore = "day", []string{"utc", "local"} },
		func(c *config.Train) {
			c.Categorical, c.Slice = []string{"account", "zip"}, []string{"day", "word", "clock"}
		},
	} {
		rows := textRows(r, 700)
		folder := t.TempDir()
		for _, name := range []string{"utc", "day"} { // times of a split
			for i, text := range rows[name] {
				if text == "" {
					rows[name][i] = map[string]string{"utc": "2024-06-01 12:00:00+00", "day": "2024-06-01"}[name]
				}
			}
		}
		files := []string{rows.parquet(t, folder+"/texts"), rows.imported(t, folder+"/imported")}
		var runs []string
		for i, file := range files {
			c := oneTree()
			c.Input, c.Label, c.Output = []string{file}, "class", fmt.Sprintf("%s/run%d", folder, i)
			change(&c)
			reporter := new(talking)
			if _, err := train.Train(t.Context(), c, reporter); err != nil {
				t.Fatal(err)
			}
			want := `columns of texts are read as dates "day"; as times "clock"; `
			if noted := slices.ContainsFunc(reporter.notes, func(s string) bool { return strings.HasPrefix(s, want) }); noted != (i == 0) {
				t.Errorf("%s: notes %q", file, reporter.notes)
			}
			want = `the texts of "decimal", "whole" are read as numbers; --categorical decimal,whole keeps them as texts, ` +
				`--numeric decimal,whole takes them for numbers without this warning`
			if c.Numeric != nil { // a setting names one of the columns
				want = `the texts of "whole" are read as numbers; --categorical whole keeps them as texts, ` +
					`--numeric whole takes them for numbers without this warning`
			}
			warned := slices.DeleteFunc(reporter.warnings, func(s string) bool { return !strings.Contains(s, "are read as numbers") })
			if got := strings.Join(warned, "|"); i == 0 && got != want || i == 1 && got != "" {
				t.Errorf("%s: warnings %q, want %q", file, warned, want)
			}
			runs = append(runs, c.Output)
		}
		if !bytes.Equal(document(t, runs[0], "tree.json"), document(t, runs[1], "tree.json")) {
			t.Errorf("another tree:\n%s\n%s", document(t, runs[0], "tree.json"), document(t, runs[1], "tree.json"))
		}
		for _, model := range runs {
			var scored [][]scoredRow
			for i, file := range files {
				p := config.DefaultPredict()
				p.Model, p.Input, p.Output, p.Overwrite, p.Explain = model, []string{file}, fmt.Sprintf("%s/out%d", folder, i), true, true
				p.Slice = []string{"day", "word", "clock"}
				if _, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil {
					t.Fatal(err)
				}
				list, err := parquet.ReadFile[scoredRow](filepath.Join(p.Output, "part-00000.parquet"))
				if err != nil {
					t.Fatal(err)
				}
				scored = append(scored, list)
			}
			if !slices.Equal(scored[0], scored[1]) {
				t.Error("other predictions")
			}
		}
		mixed := [][]string{{files[1], rows.imported(t, folder+"/more")}, {files[0], folder + "/more/part-00000.parquet"}}
		for i, input := range mixed { // texts in a file and numbers in another one
			c := oneTree()
			c.Input, c.Label, c.Output = input, "class", fmt.Sprintf("%s/mixed%d", folder, i)
			change(&c)
			c.Split = dataset.Shares{100, 0, 0} // the files have the same rows, and copies of texts are not dealt together
			if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
				t.Fatal(err)
			}
			e := config.DefaultEvaluate()
			e.Model, e.Input = c.Output, input
			if _, _, err := pipelines.Evaluate(t.Context(), e, new(silent)); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(document(t, folder+"/mixed0", "tree.json"), document(t, folder+"/mixed1", "tree.json")) {
			t.Error("another tree of a file of texts and one of numbers")
		}
		for _, flag := range []string{"cuts", "refit"} { // columns are read as the earlier run has read them
			c := oneTree()
			c.Input, c.Label, c.Output = files[:1], "class", folder+"/"+flag
			change(&c)
			c.CutsFrom, c.Refit = runs[1], ""
			if flag == "refit" {
				c.CutsFrom, c.Refit, c.Select = "", runs[1], frontier.Best
			}
			if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
				t.Errorf("%s: %v", flag, err)
			}
		}
		var inferred []string
		for i, file := range files {
			c := config.DefaultInferContract()
			c.Input, c.Label, c.Output = []string{file}, "class", fmt.Sprintf("%s/contract%d.yaml", folder, i)
			b, err := contracts.Infer(t.Context(), c, new(silent))
			if err != nil {
				t.Fatal(err)
			}
			_, columns, _ := strings.Cut(string(b), "\nformat")
			inferred = append(inferred, columns)
			checked := oneTree()
			checked.Input, checked.Label, checked.Output, checked.ContractFile = files[:1], "class", fmt.Sprintf("%s/checked%d", folder, i), c.Output
			change(&checked)
			if _, err := train.Train(t.Context(), checked, new(silent)); err != nil {
				t.Errorf("with the contract %s: %v", b, err)
			}
			e := config.DefaultEvaluate()
			e.Model, e.Input, e.ContractFile = runs[0], files[:1], c.Output
			if _, _, err := pipelines.Evaluate(t.Context(), e, new(silent)); err != nil {
				t.Errorf("evaluate with the contract %s: %v", b, err)
			}
		}
		if inferred[0] != inferred[1] {
			t.Errorf("contracts differ:\n%s\n%s", inferred[0], inferred[1])
		}
	}
}

// TestTextsOfAnotherKind: a column with a text of another kind behind the sample is a category, with a warning that
// names the text; --categorical gives the same tree. A column whose texts are codes stays as it is.
func TestTextsOfAnotherKind(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	rows := textRows(r, 1500)
	for range 1500 {
		rows["heavy"] = append(rows["heavy"], strconv.Itoa(1+r.IntN(3)))
	}
	rows["whole"][1300], rows["day"][1400], rows["heavy"][1350] = "unknown", "5 May", "007"
	folder := t.TempDir()
	file := rows.parquet(t, folder)
	var trees [][]byte
	for i, categorical := range [][]string{nil, {"whole", "day", "heavy"}} {
		c := oneTree()
		c.Input, c.Label, c.Output, c.Categorical = []string{file}, "class", fmt.Sprintf("%s/run%d", folder, i), categorical
		reporter := new(talking)
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"whole" has texts, because of "unknown"`, `"day" has texts, because of "5 May"`, `"heavy" has texts, because of "007"`} {
			if warned := slices.ContainsFunc(reporter.warnings, func(s string) bool { return strings.Contains(s, want) }); warned != (i == 0) {
				t.Errorf("%q: warnings %q", categorical, reporter.warnings)
			}
		}
		trees = append(trees, document(t, c.Output, "tree.json"))
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree than with --categorical")
	}
	for name, change := range map[string]func(c *config.Train){
		"numeric":  func(c *config.Train) { c.Numeric = []string{"whole"} },
		"monotone": func(c *config.Train) { c.Monotone = map[string]int8{"whole": 1} }, "time": func(c *config.Train) { c.SplitTime = "day" },
	} {
		c := oneTree()
		c.Input, c.Label, c.Output = []string{file}, "class", folder+"/"+name
		change(&c)
		_, err := train.Train(t.Context(), c, new(silent))
		var fault *dataset.DataError
		if !errors.As(err, &fault) || fault.Value == "" || fault.RowGroup == nil || fault.Hint == "" {
			t.Errorf("%s: %v, want the text and its place", name, err)
		}
	}
}

// TestDatesAndTimestamps: dates in all rows of the sample and timestamps in later rows are timestamps, as import reads them,
// also where they decide the parts, in contracts, and in a run that is resumed.
func TestDatesAndTimestamps(t *testing.T) {
	rows := textRows(rand.New(rand.NewPCG(6, 11)), 1500)
	for i := range rows["day"] {
		if rows["day"][i] == "" {
			rows["day"][i] = "2024-06-01"
		}
		if i%3 == 0 && 130 <= i && i < 390 { // row groups 0, 3, 7 and 11 are the sample
			rows["day"][i] += " 10:30"
		}
	}
	folder := t.TempDir()
	files := []string{rows.parquet(t, folder+"/texts"), rows.imported(t, folder+"/imported")}
	for name, change := range map[string]func(c *config.Train){
		"feature": func(*config.Train) {}, "time": func(c *config.Train) { c.SplitTime = "day" },
		"resumed": func(c *config.Train) { c.MemoryObjects = 60 },
	} {
		var trees [][]byte
		for i, file := range files {
			c := oneTree()
			c.Input, c.Label, c.Output = []string{file}, "class", fmt.Sprintf("%s/%s%d", folder, name, i)
			change(&c)
			if name == "resumed" && i == 0 {
				if _, err := trainUntil(t, c, 6); !errors.Is(err, context.Canceled) {
					t.Fatalf("%v, want an interrupted run", err)
				}
				c.Resume = true
			}
			if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
				t.Fatal(err)
			}
			trees = append(trees, document(t, c.Output, "tree.json"))
		}
		if !bytes.Equal(trees[0], trees[1]) {
			t.Errorf("%s: another tree than of imported rows", name)
		}
	}
	c := config.DefaultInferContract()
	c.Input = files[:1]
	if b, err := contracts.Infer(t.Context(), c, new(silent)); err != nil || !strings.Contains(string(b), "name: day # ") ||
		!strings.Contains(string(b), "min: 2023-") || strings.Count(string(b), "type: timestamp") != 3 {
		t.Errorf("%v\n%s", err, b)
	}
}

// TestTextsResumed: a run in which columns turned out to be texts ends with the same bytes if it is resumed, also if the
// columns are forbidden or name slices; a run of which they are the only categories keeps its tests for sets.
func TestTextsResumed(t *testing.T) {
	rows := textRows(rand.New(rand.NewPCG(6, 10)), 1500)
	for _, name := range []string{"zip", "word", "flag", "account"} {
		delete(rows, name)
	}
	for i, text := range rows["decimal"] { // texts of which most occur once are left out
		rows["decimal"][i] = text[:min(len(text), 4)]
	}
	rows["whole"][1300], rows["day"][1400], rows["decimal"][1350] = "unknown", "soon", "much"
	c := oneTree()
	c.Input, c.Label, c.Output = []string{rows.parquet(t, t.TempDir())}, "class", filepath.Join(t.TempDir(), "run")
	c.Forbid, c.Slice, c.MemoryObjects, c.Tests = []string{"whole", "day"}, []string{"day"}, 60, []split.Family{split.Sets}
	c.Ignore = []string{"local"}
	trained, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	if got := trained.Tree.Algorithm.Tests; got != "set" {
		t.Errorf("tests %s, want set", got)
	}
	want := readRun(t, c.Output)
	c.Output = filepath.Join(t.TempDir(), "resumed")
	if _, err = trainUntil(t, c, 6); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want an interrupted run", err)
	}
	c.Resume = true
	if _, err = train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	if readRun(t, c.Output) != want {
		t.Error("another tree than that of an unbroken run")
	}
}

// TestDatesOfPaths: folders dt=2026-11-01 and so on are a column of dates, also for --split_time, as are days 01, 02 and
// so on. A folder, a file or a pattern of a single day is scored as all days together are; --categorical keeps texts.
func TestDatesOfPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	root := t.TempDir()
	for day := range 20 {
		var x []float64
		var class []string
		for range 50 {
			x = append(x, r.NormFloat64())
			class = append(class, map[bool]string{true: "new", false: "old"}[day > 9 != (x[len(x)-1] > 1)])
		}
		folder := fmt.Sprintf("%s/dt=2026-11-%02d", root, day+1)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, folder, "a.parquet", parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "class", Values: class})
	}
	for name, change := range map[string]func(c *config.Train){
		"dates": func(*config.Train) {}, "categories": func(c *config.Train) { c.Categorical = []string{"dt"} },
	} {
		c := oneTree()
		c.Input, c.Label, c.Output = []string{root}, "class", filepath.Join(t.TempDir(), "run")
		change(&c)
		trained, err := train.Train(t.Context(), c, new(silent))
		if err != nil {
			t.Fatal(err)
		}
		dt := &trained.Tree.Features[0]
		if isDate := dt.Unit == dataset.Date && dt.Kind == dataset.Numeric; dt.Name != "dt" || isDate != (name == "dates") {
			t.Errorf("%s: %+v", name, dt)
		}
		score := func(input, file string) []scoredRow {
			p := config.DefaultPredict()
			p.Model, p.Input, p.Output, p.Explain = c.Output, []string{input}, filepath.Join(t.TempDir(), "out"), true
			if _, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil {
				t.Fatal(err)
			}
			list, err := parquet.ReadFile[scoredRow](filepath.Join(p.Output, file))
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		for _, day := range []string{"dt=2026-11-03", "dt=2026-11-15"} {
			want := score(root, day+"/a.parquet")
			for _, input := range []string{root + "/" + day, root + "/" + day + "/a.parquet", root + "/" + day + "/*"} {
				if !slices.Equal(score(input, "a.parquet"), want) {
					t.Errorf("%s: other predictions for %s alone", name, input)
				}
			}
		}
	}
	var trees [][]byte
	days, err := filepath.Glob(root + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for i, input := range [][]string{{root}, days} {
		c := oneTree()
		c.Input, c.Label, c.Output = input, "class", filepath.Join(t.TempDir(), "run")
		c.Split = dataset.Shares{100, 0, 0} // by default the names of the files decide, which are equal
		reporter := new(talking)
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Fatal(err)
		}
		trees = append(trees, document(t, c.Output, "tree.json"))
		says := func(s string) bool {
			return strings.Contains(s, `the folders that --input names give the columns ["dt"]`)
		}
		if slices.ContainsFunc(reporter.notes, says) != (i == 1) {
			t.Errorf("%q: notes %q", input, reporter.notes)
		}
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree of the folders one by one")
	}
	for _, column := range []string{"dt", "day"} {
		if column == "day" { // 01 to 20
			for _, folder := range days {
				if err := os.Rename(folder, root+"/day="+folder[len(folder)-2:]); err != nil {
					t.Fatal(err)
				}
			}
		}
		c := oneTree()
		c.Input, c.Label, c.Output, c.SplitTime = []string{root}, "class", filepath.Join(t.TempDir(), "run"), column
		trained, err := train.Train(t.Context(), c, new(silent))
		if err != nil {
			t.Fatal(err)
		}
		if m := trained.Metrics; m.Train.Rows != 700 || m.Validation.Rows != 100 || m.Test.Rows != 200 {
			t.Errorf("--split_time %s: %d, %d and %d rows, want 14, 2 and 4 days of 50", column, m.Train.Rows, m.Validation.Rows, m.Test.Rows)
		}
	}
}

// TestTextsOfContract: a contract says that a column of texts has numbers or dates. Other texts, in the sample of the
// column and behind it, break the contract: training and evaluate leave their rows out, predict takes them as missing.
func TestTextsOfContract(t *testing.T) {
	const n = 1500
	rows := textRows(rand.New(rand.NewPCG(6, 12)), n)
	broken := map[int]string{3: "whole", 700: "day", 1300: "whole"}
	clean := make(texts)
	for name, list := range rows {
		for i, text := range list {
			if broken[i] == "" {
				clean[name] = append(clean[name], text)
			}
		}
	}
	for i, name := range broken {
		rows[name][i] = "soon"
	}
	folder := t.TempDir()
	contract := textFile(t, "contract.yaml", `format: espalier/contract
version: 1
other_columns: used
columns:
  - {name: whole, type: number, role: feature, min: -30, max: 80}
  - {name: day, type: date, role: feature, min: 2023-01-01}
`)
	var trees [][]byte
	for i, list := range []texts{rows, clean} {
		c := oneTree()
		c.Input, c.Label, c.Output = []string{list.parquet(t, fmt.Sprintf("%s/texts%d", folder, i))}, "class", fmt.Sprintf("%s/run%d", folder, i)
		c.Split, c.ContractFile, c.MaxRejects, c.Rejects = dataset.Shares{100, 0, 0}, contract, 3*(1-int64(i)), ""
		c.Rejects = fmt.Sprintf("%s/rejects%d.parquet", folder, i)
		if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
			t.Fatal(err)
		}
		trees = append(trees, document(t, c.Output, "tree.json"))
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree than of the rows that keep the contract")
	}
	type reject struct {
		Row                   int64
		Column, Value, Reason string
	}
	rejects, err := parquet.ReadFile[struct {
		RowGroup int64  `parquet:"row_group"`
		Row      int64  `parquet:"row"`
		Column   string `parquet:"column"`
		Value    string `parquet:"value"`
		Reason   string `parquet:"reason"`
	}](folder + "/rejects0.parquet")
	if err != nil || len(rejects) != len(broken) {
		t.Fatalf("%v: rejects %v", err, rejects)
	}
	for _, r := range rejects {
		if want := (reject{r.RowGroup*130 + r.Row, broken[int(r.RowGroup*130+r.Row)], "soon", "of another type"}); want != (reject{want.Row, r.Column, r.Value, r.Reason}) {
			t.Errorf("reject %v, want %v", r, want)
		}
	}
	e := config.DefaultEvaluate()
	e.Model, e.Input, e.ContractFile, e.MaxRejects = folder+"/run0", []string{folder + "/texts0/part-00000.parquet"}, contract, 3
	if _, m, err := pipelines.Evaluate(t.Context(), e, new(silent)); err != nil || m.Test.Rows != n-3 {
		t.Errorf("%v, %v: want metrics of %d rows", m, err, n-3)
	}
	p := config.DefaultPredict()
	p.Model, p.Input, p.ContractFile, p.MaxRejects, p.Output, p.Explain = e.Model, e.Input, contract, 3, folder+"/scored", true
	if r, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil || r.Rows != n {
		t.Fatalf("%v, %v: want predictions of %d rows", r, err, n)
	}
	for i, name := range broken { // the same rows without these values have the same predictions
		rows[name][i] = ""
	}
	p.Input, p.MaxRejects, p.Output = []string{rows.parquet(t, folder+"/missing")}, 0, folder+"/without"
	if _, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil {
		t.Fatal(err)
	}
	var scored [][]scoredRow
	for _, name := range []string{"scored", "without"} {
		list, err := parquet.ReadFile[scoredRow](folder + "/" + name + "/part-00000.parquet")
		if err != nil {
			t.Fatal(err)
		}
		scored = append(scored, list)
	}
	if !slices.Equal(scored[0], scored[1]) {
		t.Error("other predictions than of missing values")
	}
	p.Input, p.MaxRejects, p.Output = e.Input, 2, folder+"/refused"
	if _, err := pipelines.Predict(t.Context(), p, new(silent)); err == nil || !strings.Contains(err.Error(), "the text is not a number as import reads it; 3 of 1500 rows") {
		t.Errorf("%v, want a fault of a text", err)
	}
}

// TestTextsThatLookLikeNumbers: columns that remain texts although most values are numbers, dates or both in another
// spelling are named with the value that makes them texts; names and codes are not, nor are columns of --categorical.
func TestTextsThatLookLikeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 58))
	const n = 300
	percents, unknowns, days, codes, names, class := make([]string, n), make([]string, n), make([]string, n), make([]string, n),
		make([]string, n), make([]string, n)
	for i := range n {
		percents[i] = fmt.Sprintf("%.1f%%", 100*r.Float64())
		unknowns[i] = []string{"?", strconv.Itoa(r.IntN(50))}[min(1, r.IntN(10))]
		days[i] = fmt.Sprintf("%02d/%02d/2024", 1+r.IntN(28), 1+r.IntN(12))
		codes[i] = fmt.Sprintf("%05d", r.IntN(20000))
		names[i] = []string{"A 1", "B 2", "C"}[r.IntN(3)]
		class[i] = []string{"x", "y"}[r.IntN(2)]
	}
	input := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquetio.Write(t.Context(), objectstore.New(), input, []parquetio.WriteColumn{
		{Name: "percents", Values: percents},
		{Name: "unknowns", Values: unknowns},
		{Name: "days", Values: days},
		{Name: "codes", Values: codes},
		{Name: "names", Values: names},
		{Name: "class", Values: class},
	}, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, categorical := range [][]string{nil, {"percents", "unknowns", "days"}} {
		c := oneTree()
		c.Input, c.Label, c.Output, c.Categorical, c.Ignore = []string{input}, "class", t.TempDir(), categorical, nil
		reporter := new(talking)
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Fatal(err)
		}
		var named []string
		for _, text := range reporter.warnings {
			if strings.Contains(text, "most of its values are") {
				named = append(named, text)
			}
		}
		want := []string{`"days" is read as texts because of "`, `"percents" is read as texts because of "`, `"unknowns" is read as texts because of "?"`}
		if categorical != nil {
			want = nil
		}
		slices.Sort(named)
		if !slices.EqualFunc(named, want, strings.Contains) {
			t.Errorf("--categorical %q: %q", categorical, named)
		}
	}
}
