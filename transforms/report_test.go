package transforms_test

import (
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

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
