package transforms_test

import (
	"reflect"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestDeadLetters: of 100,000 records 1,000 are bad in ten ways, of 20,000 records 200.
func TestDeadLetters(t *testing.T) {
	longtest.Skip(t)
	for _, runner := range conformance.RunnersOfFailures() {
		for transform, rows := range map[string]int{"Score": 100_000, "Evaluate": 20_000, "Train": 20_000, "WindowedTree": 20_000} {
			t.Run(transform+"/"+runner, func(t *testing.T) { conformance.DeadLetters(t, runner, transform, rows) })
		}
	}
}

// TestFeed: a pipeline scores rows by the trees that it has grown from them.
func TestFeed(t *testing.T) {
	for _, runner := range conformance.Runners() {
		for name, windowed := range map[string]bool{"batch": false, "windows": true} {
			t.Run(runner+"/"+name, func(t *testing.T) { conformance.Feed(t, runner, windowed, false) })
			t.Run(runner+"/"+name+"/keyed", func(t *testing.T) { conformance.Feed(t, runner, windowed, true) })
		}
	}
}

// TestTimeOfLetters: a row that has the time at which the pipeline runs keeps it in its dead letter, on a runner whose rows
// have no time of their own.
func TestTimeOfLetters(t *testing.T) {
	encoded := library(t, "direct", visits(120), visitConfig())
	var dead *transformstest.Collected[transforms.DeadLetter]
	err := runPipeline(t, "prism", func(s beam.Scope) {
		rows := beam.ParDo(s, &stampNowFn{}, beam.Create(s, anyRow{"age": "old"}))
		scored := transforms.Score(s, rows, transforms.Model{JSON: encoded, Strict: true}, transforms.DeadLetters{})
		dead = transformstest.Collect[transforms.DeadLetter](s, scored.DeadLetters)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := dead.All(); len(got) != 1 || got[0].Millis == 0 {
		t.Errorf("dead letters %+v, want one with a time", got)
	}
}

// stampNowFn gives rows the time of the clock.
type stampNowFn struct{}

func (*stampNowFn) ProcessElement(row anyRow) (beam.EventTime, anyRow) { return mtime.Now(), row }

func init() { beam.RegisterDoFn(reflect.TypeFor[stampNowFn]()) }

// TestNoTree: rows of a window without a tree are dead letters, or make the pipeline fail.
func TestNoTree(t *testing.T) {
	c := visitConfig()
	c.AllowEmpty, c.DropNullLabels = true, true
	for _, fails := range []bool{false, true} {
		err := runPipeline(t, "prism", func(s beam.Scope) {
			none := beam.ParDo(s, &noVisitFn{}, oneVisit(s))
			m := transforms.Model{Trees: transforms.Train(s, none, c).Trees}
			if fails {
				transforms.Score(s, oneVisit(s), m)
				return
			}
			beam.ParDo0(s, &sinkLetterFn{}, transforms.Score(s, oneVisit(s), m, transforms.DeadLetters{}).DeadLetters)
		})
		if err == nil == fails {
			t.Errorf("fails %v: error %v", fails, err)
		}
		if !fails && (len(sunk.rows) != 1 ||
			sunk.rows[0] != "no tree has come for the window of the row; the window may need rows with labels") {
			t.Errorf("dead letters %q", sunk.rows)
		}
	}
}

// noVisitFn drops all visits.
type noVisitFn struct{}

func (*noVisitFn) ProcessElement(visit, func(visit)) {}

type sinkLetterFn struct{}

func (*sinkLetterFn) ProcessElement(d transforms.DeadLetter) {
	sunk.Lock()
	defer sunk.Unlock()
	sunk.rows = append(sunk.rows, d.Reason+"; "+d.Hint)
}
