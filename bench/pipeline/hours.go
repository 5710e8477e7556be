package main

import (
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[hourFn]())
	beam.RegisterDoFn(reflect.TypeFor[streamFn]())
	register.Emitter2[beam.EventTime, Row]()
}

const hourMillis = 3_600_000

// rowsOfHour is the number of rows that the tree of an hour is grown from.
const rowsOfHour = 2000

// hourly scores rows by the trees of hours.
func hourly(n, hours int64, latest, stream bool) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	learned := beam.ParDo(s, &hourFn{Rows: hours * rowsOfHour, Hours: hours}, beam.ParDo(s, &listFn{hours * rowsOfHour}, beam.Impulse(s)))
	c := transforms.SingleTrainConfig("Class")
	c.MaxDepth = 8
	trees := transforms.WindowedTree(s, learned, transforms.WindowConfig{
		TrainConfig: c, Windows: window.NewFixedWindows(time.Hour), AllowedLateness: 1000 * time.Hour, // all trees are kept
	}).Trees
	var rows beam.PCollection
	first := int64(0)
	if latest {
		first = 1 // each row has a tree before it
	}
	scored := hourFn{Rows: n, Hours: hours, First: first}
	if stream {
		rows = beam.ParDo(s, &streamFn{conformance.Numbered{End: n}, scored}, beam.Impulse(s))
	} else {
		rows = beam.ParDo(s, &scored, beam.Reshuffle(s, beam.ParDo(s, &listFn{n}, beam.Impulse(s))))
	}
	if !latest {
		rows = beam.WindowInto(s, window.NewFixedWindows(time.Hour), rows)
	}
	transforms.Score(s, rows, transforms.Model{Trees: trees, Latest: latest})
	return p
}

// hourFn makes the rows of a stretch, which are spread evenly over hours.
type hourFn struct{ Rows, Hours, First int64 }

func (f *hourFn) at(i int64) int64 { return f.First*hourMillis + i*f.Hours*hourMillis/f.Rows }

func (f *hourFn) ProcessElement(from int64, emit func(beam.EventTime, Row)) {
	for i := from; i < min(from+rowsTogether, f.Rows); i++ {
		emit(beam.EventTime(f.at(i)), rowAt(i))
	}
}

// streamFn makes the same rows as an unbounded collection.
type streamFn struct {
	conformance.Numbered

	Of hourFn
}

func (f *streamFn) ProcessElement(
	we *sdf.ManualWatermarkEstimator, rt *sdf.LockRTracker, _ []byte, emit func(beam.EventTime, Row),
) (sdf.ProcessContinuation, error) {
	from := rt.GetRestriction().(offsetrange.Restriction).Start //nolint:errcheck // CreateTracker made it
	for i := from; i < from+rowsTogether; i++ {
		if !rt.TryClaim(i) {
			return sdf.StopProcessing(), rt.GetError()
		}
		at := f.Of.at(i)
		emit(beam.EventTime(at), rowAt(i))
		we.UpdateWatermark(time.UnixMilli(at))
	}
	return sdf.ResumeProcessingIn(time.Millisecond), nil
}
