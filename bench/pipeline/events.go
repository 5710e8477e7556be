package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"

	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

func init() {
	for _, t := range []reflect.Type{reflect.TypeFor[event](), reflect.TypeFor[eventStruct](), reflect.TypeFor[eventOfMore]()} {
		beam.RegisterType(t)
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[eventsFn](), reflect.TypeFor[scoredFn](), reflect.TypeFor[unscoredFn](), reflect.TypeFor[deadFn](),
		reflect.TypeFor[treeFn](), reflect.TypeFor[refusedFn](), reflect.TypeFor[filesFn](),
	} {
		beam.RegisterDoFn(t)
	}
	beam.RegisterFunction(underOneKey)
}

// event is a row of a stream. "id" counts the events, "at" is its time in ms since 1970, and "made" the version of the
// program that has read it.
type event map[string]any

// eventStruct and eventOfMore are rows of the first and of the second version of a program whose rows are structs.
type (
	eventStruct struct {
		ID     float64  `json:"id"`
		At     float64  `json:"at"`
		Made   float64  `json:"made"`
		Amount float64  `json:"amount"`
		Age    float64  `json:"age"`
		Visits *float64 `json:"visits"`
		City   string   `json:"city"`
		Class  string   `json:"class"`
	}
	eventOfMore struct {
		eventStruct

		Score float64 `json:"score"`
	}
)

// eventSettings describes a stream of events.
type eventSettings struct {
	File    string // lines of JSON objects, in the order of their arrival
	Folder  string // for the results
	Numeric string // columns, divided by commas
	Version int
	Structs bool          // rows are structs, not maps
	Behind  time.Duration // how far the watermark is behind the latest event
	Pause   time.Duration // after each bundle of 1,000 events
}

// events grows a tree of each hour of a stream, scores each event by the latest tree before it, and writes for each hour a
// file with a line of JSON for whatever became of an event or of an hour.
func events(c *eventSettings) (*beam.Pipeline, error) {
	file, err := os.Stat(c.File)
	if err != nil {
		return nil, err
	}
	p, s := beam.NewPipelineWithRoot()
	read := &eventsFn{
		Numbered: conformance.Numbered{End: file.Size()}, File: c.File, Numeric: strings.Split(c.Numeric, ","), Version: c.Version,
		Behind: c.Behind, Pause: c.Pause,
	}
	read.Type.T = reflect.TypeFor[event]()
	if c.Structs {
		read.Type.T = []reflect.Type{reflect.TypeFor[eventStruct](), reflect.TypeFor[eventOfMore]()}[c.Version-1]
	}
	rows := beam.ParDo(s, read, beam.Impulse(s), beam.TypeDefinition{Var: beam.TType, T: read.Type.T})
	train := transforms.SingleTrainConfig("class")
	train.MaxDepth = 6
	train.Features = append(slices.Clone(read.Numeric), "city")
	if !c.Structs {
		train.Numeric = read.Numeric
		train.Categorical = []string{"city"}
	}
	hours := window.NewFixedWindows(time.Hour)
	trees := transforms.WindowedTree(s, rows, transforms.WindowConfig{TrainConfig: train, Windows: hours}, transforms.DeadLetters{})
	scored := transforms.Score(s, rows, transforms.Model{Trees: trees.Trees, Latest: true, Unscored: true}, transforms.DeadLetters{})
	version := told{c.Version}
	var lines []beam.PCollection
	for _, l := range []struct {
		fn any
		of beam.PCollection
	}{
		{&treeFn{version, c.Folder}, trees.Trees},
		{&refusedFn{version}, trees.Refused},
		{&deadFn{version, "untrained"}, trees.DeadLetters},
		{&scoredFn{version}, scored.Predictions},
		{&unscoredFn{version}, scored.Unscored},
		{&deadFn{version, "dead"}, scored.DeadLetters},
	} {
		lines = append(lines, beam.WindowInto(s, hours, beam.ParDo(s, l.fn, l.of)))
	}
	keyed := beam.ParDo(s, underOneKey, beam.Flatten(s, lines...))
	beam.ParDo0(s, &filesFn{c.Folder}, beam.GroupByKey(s, keyed))
	return p, nil
}

// eventsFn reads events. They are numbered by the bytes of the file: an event has the number of its last byte.
type eventsFn struct {
	conformance.Numbered

	File    string
	Numeric []string
	Version int
	Type    beam.EncodedType // of the rows
	Behind  time.Duration
	Pause   time.Duration
}

func (f *eventsFn) ProcessElement(
	we *sdf.ManualWatermarkEstimator, rt *sdf.LockRTracker, _ []byte, emit func(beam.EventTime, beam.T),
) (sdf.ProcessContinuation, error) {
	const together = 1000
	at := rt.GetRestriction().(offsetrange.Restriction).Start //nolint:errcheck // CreateTracker made it
	file, err := os.Open(f.File)
	if err != nil {
		return sdf.StopProcessing(), err
	}
	defer file.Close() //nolint:errcheck // only read
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return sdf.StopProcessing(), err
	}
	lines := bufio.NewReader(file)
	for range together {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return sdf.StopProcessing(), err
		}
		at += int64(len(line))
		if len(line) == 0 || !rt.TryClaim(at-1) {
			rt.TryClaim(f.End) // nothing follows
			return sdf.StopProcessing(), rt.GetError()
		}
		var given event
		if err := json.Unmarshal(line, &given); err != nil {
			return sdf.StopProcessing(), err
		}
		e := event{"id": given["id"], "at": given["at"], "city": given["city"], "class": given["class"], "made": float64(f.Version)}
		for _, column := range f.Numeric {
			e[column] = given[column]
		}
		millis, row, err := f.row(e)
		if err != nil {
			return sdf.StopProcessing(), err
		}
		emit(beam.EventTime(millis), row)
		if reached := time.UnixMilli(millis).Add(-f.Behind); reached.After(we.State) {
			we.UpdateWatermark(reached)
		}
	}
	return sdf.ResumeProcessingIn(f.Pause), nil
}

// row returns an event as a row, and its time.
func (f *eventsFn) row(e event) (millis int64, row beam.T, err error) {
	at, ok := e["at"].(float64)
	if !ok {
		return 0, nil, fmt.Errorf("an event has no time: %v", e)
	}
	if f.Type.T == reflect.TypeFor[event]() {
		return int64(at), e, nil
	}
	value := reflect.New(f.Type.T)
	b, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(b, value.Interface())
	}
	return int64(at), value.Elem().Interface(), err
}

// origin is an event's number, and the version of the program that has read it.
type origin interface{ origin() (id, made any) }

func (e event) origin() (id, made any) { return e["id"], e["made"] }

func (e eventStruct) origin() (id, made any) { return e.ID, e.Made }

// told makes lines.
type told struct{ By int }

// line returns a line of JSON with the version of the program that made it.
func (t told) line(what string, values map[string]any) string {
	values["what"] = what
	values["by"] = t.By
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(b)
}

// The DoFns make lines of what became of events and of hours.
type (
	scoredFn   struct{ told }
	unscoredFn struct{ told }
	deadFn     struct {
		told

		What string
	}
	refusedFn struct{ told }
	treeFn    struct {
		told

		Folder string
	}
)

// ofEvent returns a line on an event.
func (t told) ofEvent(what string, e any, values map[string]any) (string, error) {
	o, ok := e.(origin)
	if !ok {
		return "", fmt.Errorf("%T is no event", e)
	}
	values["id"], values["made"] = o.origin()
	return t.line(what, values), nil
}

func (f *scoredFn) ProcessElement(e beam.T, p transforms.Prediction) (string, error) {
	return f.ofEvent("scored", e, map[string]any{"model": p.Model, "leaf": p.Leaf, "class": p.Class})
}

func (f *unscoredFn) ProcessElement(e beam.T) (string, error) {
	return f.ofEvent("unscored", e, map[string]any{})
}

func (f *deadFn) ProcessElement(d transforms.DeadLetter) (string, error) {
	var e event
	if err := json.Unmarshal([]byte(d.Row), &e); err != nil {
		return "", err
	}
	return f.ofEvent(f.What, e, map[string]any{"column": d.Column, "value": d.Value})
}

func (f *refusedFn) ProcessElement(r transforms.RefusedWindow) string {
	return f.line("refused", map[string]any{"start": r.Start, "rows": r.Rows, "reason": r.Reason})
}

// ProcessElement also writes the tree.
func (f *treeFn) ProcessElement(t transforms.WindowTree) (string, error) {
	model := transforms.ModelID(t.JSON)
	return f.line("tree", map[string]any{"start": t.Start, "rows": t.Rows, "model": model}),
		place(filepath.Join(f.Folder, model+".json"), t.JSON)
}

// place writes a file at once. A runner may repeat it.
func place(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func underOneKey(line string) (int64, string) { return 0, line }

// filesFn writes the lines of a pane, to a file that is named after them: a runner may repeat a pane, but two panes of other
// lines are two files.
type filesFn struct{ Folder string }

func (f *filesFn) ProcessElement(w beam.Window, _ int64, values func(*string) bool) error {
	var lines []string
	var line string
	for values(&line) {
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	all := []byte(strings.Join(lines, ""))
	return place(filepath.Join(f.Folder, fmt.Sprintf("%d-%x.jsonl", w.MaxTimestamp(), sha256.Sum256(all))), all)
}
