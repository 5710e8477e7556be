package transforms_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
)

var reports struct {
	sync.Mutex

	list []transforms.Report
}

type sinkReportFn struct{}

func (*sinkReportFn) ProcessElement(r transforms.Report) {
	reports.Lock()
	defer reports.Unlock()
	reports.list = append(reports.list, r)
}

func init() { beam.RegisterDoFn(reflect.TypeFor[sinkReportFn]()) }

// TestIncomparable: an earlier tree that tests another column does not end the training; the report says why there is no
// comparison.
func TestIncomparable(t *testing.T) {
	for _, runner := range transformstest.Runners() {
		reports.list = nil
		other := visitConfig()
		earlier := library(t, runner, visits(200), other)
		c := visitConfig()
		c.Features = c.Features[:1]
		err := runPipeline(t, runner, func(s beam.Scope) {
			trained := transforms.Train(s, beam.CreateList(s, visits(200)), c, transforms.Reports{Against: earlier})
			beam.ParDo0(s, &sinkReportFn{}, trained.Reports)
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(reports.list) != 1 || reports.list[0].Compared != nil || !strings.Contains(reports.list[0].Incomparable, "not a feature") {
			t.Errorf("%s: %+v", runner, reports.list)
		}
	}
}
