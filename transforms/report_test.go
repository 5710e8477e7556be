package transforms_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// TestIncomparable: an earlier tree that tests another column does not end the training; the report says why there is no
// comparison.
func TestIncomparable(t *testing.T) {
	for _, runner := range conformance.Runners() {
		other := visitConfig()
		earlier := library(t, runner, visits(200), other)
		c := visitConfig()
		c.Features = c.Features[:1]
		var reports *transformstest.Collected[transforms.Report]
		err := runPipeline(t, runner, func(s beam.Scope) {
			trained := transforms.Train(s, beam.CreateList(s, visits(200)), c, transforms.Reports{Against: earlier})
			reports = transformstest.Collect[transforms.Report](s, trained.Reports)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := reports.All(); len(got) != 1 || got[0].Compared != nil || !strings.Contains(got[0].Incomparable, "not a feature") {
			t.Errorf("%s: %+v", runner, got)
		}
	}
}

// TestIncomparableKinds: rows that are maps decide by themselves what a column has. An earlier tree that tests a column of
// texts as numbers, or a column with a single value, ends neither Train nor WindowedTree.
func TestIncomparableKinds(t *testing.T) {
	c := transforms.DefaultTrainConfig("Class", "id")
	c.Features = []string{"kg", "ward"}
	rows := func(kg func(x float64) any) []anyRow {
		var list []anyRow
		for _, v := range visits(400) {
			m := v.asMap()
			m["kg"] = kg(m["kg"].(float64)) //nolint:errcheck // a number
			list = append(list, m)
		}
		return list
	}
	numbers := transforms.SingleTrainConfig("Class")
	numbers.Features = []string{"kg"}
	earlier := library(t, "direct", rows(func(x float64) any { return x }), numbers)
	for _, test := range []struct {
		what string
		kg   func(x float64) any
		want string
	}{
		{"texts", func(x float64) any { return "kg" + strconv.Itoa(int(x)%9) }, "as numeric values"},
		{"one value", func(float64) any { return 1.0 }, "a single value"},
	} {
		list := rows(test.kg)
		for _, windowed := range []bool{false, true} {
			var reports *transformstest.Collected[transforms.Report]
			err := runPipeline(t, "prism", func(s beam.Scope) {
				in := beam.ParDo(s, &stampNowFn{}, beam.CreateList(s, list))
				against := transforms.Reports{Against: earlier}
				var made beam.PCollection
				if windowed {
					made = transforms.WindowedTree(s, in, transforms.WindowConfig{TrainConfig: c, Windows: window.NewFixedWindows(1e6 * time.Hour)}, against).Reports
				} else {
					made = transforms.Train(s, in, c, against).Reports
				}
				reports = transformstest.Collect[transforms.Report](s, made)
			})
			if err != nil {
				t.Fatalf("%s, windowed %v: %v", test.what, windowed, err)
			}
			if got := reports.All(); len(got) != 1 || len(got[0].JSON) == 0 || !strings.Contains(got[0].Incomparable, test.want) {
				t.Errorf("%s, windowed %v: %d reports, incomparable because %q", test.what, windowed, len(got), got[0].Incomparable)
			}
		}
	}
}
