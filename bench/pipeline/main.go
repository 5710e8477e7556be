// Command pipeline trains a tree on synthetic rows in a Beam pipeline, scores the rows by the tree, and
// prints seconds and peak memory as JSON. With --write it writes the rows as Parquet files instead, for
// espalier train and predict. With --hours N it grows a tree of each of N hours, and scores the rows, whose
// times are in these hours or an hour later, by the tree of their own hour or by the latest tree. With --events it reads a
// stream of events from a file, for bench/updates.py.
//
//	go run ./bench/pipeline --rows 1000000 --runner direct
//	go run ./bench/pipeline --rows 1000000 --runner prism --hours 24 --score latest --stream
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/worker"
	"github.com/espalier-ml/espalier/transforms"
)

// Row has 20 features: five numbers that hardly repeat, five of 100 numbers, and ten of ten texts.
type Row struct {
	N0, N1, N2, N3, N4 float64
	N5, N6, N7, N8, N9 float64
	T0, T1, T2, T3, T4 string
	T5, T6, T7, T8, T9 string
	Class              string
}

// rowAt returns the row of a number.
func rowAt(number int64) Row {
	r := rand.New(rand.NewPCG(1, uint64(number)))
	x := func() float64 { return r.Float64() * 100 }
	n := func() float64 { return float64(r.IntN(100)) }
	t := func() string { return texts[r.IntN(len(texts))] }
	row := Row{x(), x(), x(), x(), x(), n(), n(), n(), n(), n(), t(), t(), t(), t(), t(), t(), t(), t(), t(), t(), "no"}
	if ill := row.N0+row.N5 > 90 && row.T0 != "three" || row.N1 > 80 && row.T1 == "seven"; ill != (r.IntN(50) == 0) {
		row.Class = "yes"
	}
	return row
}

var texts = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} //nolint:gochecknoglobals // a constant

// rowsTogether is the number of rows that an element of the source stands for.
const rowsTogether = 10_000

// listFn emits the first number of each stretch of rows.
type listFn struct{ Rows int64 }

func (f *listFn) ProcessElement(_ []byte, emit func(int64)) {
	for from := int64(0); from < f.Rows; from += rowsTogether {
		emit(from)
	}
}

// rowsFn makes the rows of a stretch.
type rowsFn struct{ Rows int64 }

func (f *rowsFn) ProcessElement(from int64, emit func(Row)) {
	for i := from; i < min(from+rowsTogether, f.Rows); i++ {
		emit(rowAt(i))
	}
}

// saveFn writes the tree.
type saveFn struct{ Path string }

func (f *saveFn) ProcessElement(tree []byte) error { return os.WriteFile(f.Path, tree, 0o666) }

func init() {
	beam.RegisterType(reflect.TypeFor[Row]())
	for _, t := range []reflect.Type{
		reflect.TypeFor[listFn](), reflect.TypeFor[rowsFn](), reflect.TypeFor[saveFn](),
	} {
		beam.RegisterDoFn(t)
	}
	register.Emitter1[int64]()
	register.Emitter1[Row]()
}

func main() {
	worker.Main() // an engine starts this program as its worker
	rows := flag.Int64("rows", 100_000, "number of rows")
	train := flag.Bool("train", true, "train a tree, and write it to --tree if that is given")
	score := flag.String("score", "trees", "what scores the rows: trees (of the same pipeline), latest, json (of --tree) or none")
	hours := flag.Int64("hours", 0, "grow a tree of each of this number of hours; 0: of all rows")
	unbounded := flag.Bool("stream", false, "the rows of hours are unbounded")
	tree := flag.String("tree", "", "file of the tree")
	shards := flag.Int("shards", 0, "shards of the training; 0: the default")
	write := flag.String("write", "", "folder for the rows as Parquet files; nothing else is done")
	var stream eventSettings
	flag.StringVar(&stream.File, "events", "", "file of events; the flags above have no effect")
	flag.StringVar(&stream.Folder, "folder", "", "folder for the results of --events")
	flag.StringVar(&stream.Numeric, "numeric", "", "numeric columns of --events, divided by commas")
	flag.IntVar(&stream.Version, "version", 1, "version of this program, in the results of --events")
	flag.BoolVar(&stream.Structs, "structs", false, "the events are structs, not maps")
	flag.DurationVar(&stream.Behind, "behind", 0, "how far the watermark is behind the latest event")
	flag.DurationVar(&stream.Pause, "pause", time.Millisecond, "pause after 1,000 events")
	options := flag.String("job_options", "{}", "JSON object of further options of the runner's jobs")
	profile := flag.String("profile", "", "file for a profile of the processor time")
	flag.Parse()
	beamlog.SetLogger(&beamlog.Standard{Level: beamlog.SevError})
	beam.Init()
	var further map[string]any
	err := json.Unmarshal([]byte(*options), &further)
	if err == nil {
		err = worker.JobOptions(further)
	}
	if err == nil {
		err = writeRows(context.Background(), *write, *rows)
	}
	if *write == "" && err == nil {
		var p *beam.Pipeline
		switch {
		case stream.File != "":
			p, err = events(&stream)
		case *hours > 0:
			p = hourly(*rows, *hours, *score == "latest", *unbounded)
		default:
			p, err = pipeline(*rows, *train, *score, *tree, *shards)
		}
		if err == nil {
			err = run(context.Background(), p, *profile)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pipeline(n int64, train bool, score, tree string, shards int) (*beam.Pipeline, error) {
	p, s := beam.NewPipelineWithRoot()
	rows := beam.ParDo(s, &rowsFn{n}, beam.Reshuffle(s, beam.ParDo(s, &listFn{n}, beam.Impulse(s))))
	var m transforms.Model
	if train {
		c := transforms.SingleTrainConfig("Class")
		c.MaxDepth = 8
		c.Shards = cmp.Or(shards, c.Shards)
		m.Trees = transforms.Train(s, rows, c).Trees
		if tree != "" {
			beam.ParDo0(s, &saveFn{tree}, m.Trees)
		}
	}
	if score == "json" {
		if tree == "" {
			return nil, errors.New("--score json: name its tree by --tree")
		}
		b, err := os.ReadFile(tree)
		if err != nil {
			return nil, err
		}
		m = transforms.Model{JSON: b}
	}
	if score != "none" {
		transforms.Score(s, rows, m)
	}
	return p, nil
}

func run(ctx context.Context, p *beam.Pipeline, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	start := time.Now()
	result, err := beam.Run(ctx, *runners.Runner, p)
	if err != nil {
		return err
	}
	counts := make(map[string]int64)
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == "espalier" {
			counts[c.Key.Name] = c.Result()
		}
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"counters": counts, "seconds": time.Since(start).Seconds(),
		"user": time.Duration(usage.Utime.Nano()).Seconds(), "peak_mb": usage.Maxrss / 1000,
	})
}

// rowsPerFile is the number of rows of each written file.
const rowsPerFile = 1_000_000

func writeRows(ctx context.Context, folder string, n int64) error {
	if folder == "" {
		return nil
	}
	for from := int64(0); from < n; from += rowsPerFile {
		t := reflect.TypeFor[Row]()
		values := make([]reflect.Value, t.NumField())
		for i := range values {
			values[i] = reflect.MakeSlice(reflect.SliceOf(t.Field(i).Type), 0, int(rowsPerFile))
		}
		for number := from; number < min(from+rowsPerFile, n); number++ {
			row := rowAt(number)
			for i := range values {
				values[i] = reflect.Append(values[i], reflect.ValueOf(row).Field(i))
			}
		}
		var columns []parquetio.WriteColumn
		for i := range values {
			columns = append(columns, parquetio.WriteColumn{Name: t.Field(i).Name, Values: values[i].Interface()})
		}
		name := folder + "/" + strconv.FormatInt(from/rowsPerFile, 10) + ".parquet"
		if err := parquetio.Write(ctx, objectstore.New(), name, columns, parquetio.WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}
