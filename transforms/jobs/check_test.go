package jobs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// cell is the value of a row in a column.
type cell struct {
	value   any // as written to the file; nil: null
	missing bool
	number  float64
	text    string // the expected spelling
}

// newCell returns value i of a column.
func newCell(column string, i int64) cell {
	if i < 4 {
		return cell{value: []any{nil, math.NaN()}[i%2], missing: true} // only the column of fractions has NaN
	}
	switch column {
	case "fraction":
		x := float64(i-20) / -4 // zero is negative
		return cell{x, false, x, strconv.FormatFloat(x+0, 'g', -1, 64)}
	case "digits":
		i = i<<56 + 1 // float64 does not hold the last digit
		return cell{i, false, float64(i), strconv.FormatInt(i, 10)}
	case "day":
		return cell{i, false, float64(i), time.Unix(i*24*60*60, 0).UTC().Format(time.DateOnly)}
	default:
		text := []string{"", "blue", "red", "x" + strings.Repeat("é", 600)}[i%4]
		return cell{text, false, 0, text}
	}
}

// newTable returns columns of n random rows, with random bounds. The sums of their numbers are exact.
func newTable(random *rand.Rand, n int) (bounds []jobs.Bounds, cells [][]cell) {
	bounds = []jobs.Bounds{
		{Column: "fraction"}, {Column: "digits", Number: true}, {Column: "day", Unit: dataset.Date}, {Column: "text"},
	}
	cells = make([][]cell, len(bounds))
	for k := range bounds {
		b := &bounds[k]
		for range n {
			cells[k] = append(cells[k], newCell(b.Column, random.Int64N(50)))
		}
		drawn := func() *cell { return &cells[k][random.IntN(n)] }
		some := func() bool { return random.IntN(3) > 0 }
		b.Required, b.Closed = some(), some()
		if b.Column != "text" && some() {
			b.Min = &drawn().number
		}
		if b.Column != "text" && some() {
			b.Max = &drawn().number
		}
		if some() {
			b.Values = []string{} // no value is known
			for range random.IntN(9) {
				b.Values = append(b.Values, drawn().text)
			}
		}
	}
	return bounds, cells
}

// writeCells divides the rows at random into files and row groups. It returns the place of each row.
func writeCells(t *testing.T, random *rand.Rand, cells [][]cell) (tasks []jobs.Task, places []jobs.Reject) {
	t.Helper()
	folder := t.TempDir()
	for from, to := 0, 0; from < len(cells[0]); from = to {
		to = from + 1 + random.IntN(len(cells[0])-from)
		size := 1 + random.IntN(to-from)
		task := jobs.Task{File: filepath.Join(folder, fmt.Sprintf("%03d.parquet", from)), Digits: []string{"digits"}}
		encoding := parquetio.Encoding(random.IntN(2)) // dictionary or plain
		err := parquetio.Write(t.Context(), objectstore.New(), task.File, []parquetio.WriteColumn{
			{Name: "fraction", Values: pointers[float64](cells[0][from:to]), Encoding: encoding},
			{Name: "digits", Values: pointers[int64](cells[1][from:to]), Encoding: encoding},
			{Name: "day", Values: pointers[int64](cells[2][from:to]), Encoding: encoding},
			{Name: "text", Values: pointers[string](cells[3][from:to]), Encoding: encoding},
		}, parquetio.WriteOptions{RowsPerGroup: size, PageBytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		for i := range to - from {
			places = append(places, jobs.Reject{File: task.File, RowGroup: i / size, Row: i % size})
			if task.RowGroup = i / size; i%size == 0 {
				tasks = append(tasks, task)
			}
		}
	}
	return tasks, places
}

func pointers[T any](cells []cell) []*T {
	list := make([]*T, len(cells))
	for i := range cells {
		if value, ok := cells[i].value.(T); ok {
			list[i] = &value
		}
	}
	return list
}

// check runs the job on files.
func check(t *testing.T, runner string, tasks []jobs.Task, bounds []jobs.Bounds, most int64) (*jobs.Checked, error) {
	t.Helper()
	job := jobs.NewRun(jobs.NewFiles(jobs.DefaultFilesConfig()), jobs.DefaultFilesConfig())
	defer job.Close()
	c := jobs.CheckConfig{Bounds: bounds, Most: most}
	c.Workers, c.Out, c.Run = 3, filepath.Join(t.TempDir(), "checked"), job.Name()
	if err := runJob(t, runner, tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Check(s, tasks, c) }); err != nil {
		return nil, err
	}
	return jobs.ReadChecked(job.Context(t.Context()), &c)
}

// naiveCheck checks a table row by row.
func naiveCheck(bounds []jobs.Bounds, cells [][]cell, places []jobs.Reject, most int64) *jobs.Checked {
	want := &jobs.Checked{Rows: int64(len(places)), Columns: make([]jobs.ColumnCounts, len(bounds))}
	for row, r := range places {
		refused := int64(0)
		for r.Column = range bounds {
			b, v, counts := &bounds[r.Column], &cells[r.Column][row], &want.Columns[r.Column]
			r.Reason = jobs.NoReason
			r.Value = v.text[:min(len(v.text), 1023)] // at most 1024, and no part of a character
			counts.Sum += v.number
			if !v.missing && b.Values != nil && !slices.Contains(b.Values, v.text) {
				counts.Unlisted++
				if b.Closed {
					r.Reason = jobs.Unlisted
				}
			}
			switch {
			case v.missing:
				counts.Missing++
				if b.Required {
					r.Reason = jobs.MissingValue
				}
			case b.Min != nil && v.number < *b.Min:
				r.Reason = jobs.BelowMin
			case b.Max != nil && v.number > *b.Max:
				r.Reason = jobs.AboveMax
			}
			if r.Reason != jobs.NoReason {
				refused = 1
				counts.Refused++
				if want.Refused < most {
					want.Rejects = append(want.Rejects, r)
				}
			}
		}
		want.Refused += refused
	}
	return want
}

// TestCheck compares counts and rejects with a naive check, for any division into files and row groups.
func TestCheck(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		bounds, cells := newTable(random, 1+random.IntN(60))
		for _, most := range []int64{0, 7, 1000} {
			tasks, places := writeCells(t, random, cells)
			got, err := check(t, "direct", tasks, bounds, most)
			if diff := cmp.Diff(naiveCheck(bounds, cells, places, most), got); err != nil || diff != "" {
				t.Fatalf("seed %d, %d tasks, at most %d rejects: %v (-want +got):\n%s", seed, len(tasks), most, err, diff)
			}
		}
	}
}

// TestCheckInAnyOrder: the result has the same bits for any order of the tasks, although sums depend on it.
func TestCheckInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bounds, cells := newTable(random, 100)
	for row := range cells[0] {
		cells[0][row].value = math.Exp(9 * random.NormFloat64())
	}
	tasks, _ := writeCells(t, random, cells)
	var first *jobs.Checked
	for _, runner := range append(slices.Repeat([]string{"direct"}, 9), "prism") {
		got, err := check(t, runner, tasks, bounds, 9)
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); err != nil || diff != "" || len(tasks) < 5 {
			t.Errorf("%s, %d tasks: %v (-first +got):\n%s", runner, len(tasks), err, diff)
		}
		random.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	}
}

// TestCheckFaults: the error of a missing column or a broken page names the file and the column.
func TestCheckFaults(t *testing.T) {
	url := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), url, []parquetio.WriteColumn{
		{Name: "whole", Values: []int64{1, 2, 3, 4}},
		{Name: "broken", Values: []string{"a", "b", "c", "some text"}, Encoding: parquetio.Plain},
		{Name: "too", Values: []string{"a", "b", "c", "some text"}, Encoding: parquetio.Plain},
	}, parquetio.WriteOptions{RowsPerGroup: 2, Codec: parquetio.Uncompressed})
	b, unread := os.ReadFile(url)
	b = bytes.ReplaceAll(b, []byte("some text"), []byte("some test"))
	if err := errors.Join(err, unread, os.WriteFile(url, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"broken", "whole", "too"}, {"whole", "too", "broken"}, {"absent", "whole"}} {
		var bounds []jobs.Bounds
		for _, name := range names {
			bounds = append(bounds, jobs.Bounds{Column: name})
		}
		_, err := check(t, "direct", []jobs.Task{{File: url}, {File: url, RowGroup: 1}}, bounds, 1)
		want := slices.DeleteFunc(names, func(name string) bool { return name == "whole" })[0]
		e, ok := dataset.ParseError(fmt.Sprint(err))
		if !ok || e.File != url || e.Column != want || want != "absent" && (e.RowGroup == nil || *e.RowGroup != 1) {
			t.Errorf("%v, want an error of column %s", err, want)
		}
	}
}
