package runpage

import (
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestReasonAndPrice: the first question has a reason that names its price if the criterion counts prices,
// and a free question has none of 0.
func TestReasonAndPrice(t *testing.T) {
	for name := range strings.FieldsSeq("ec45 ecart asr c45 cart cc45 ccart ip bal") {
		for _, cost := range []float64{0, 1, 5} {
			m := pagetest.Tree()
			m.Algorithm.Name, m.Nodes[0].Test.Cost = name, cost
			m.Features[0].Kind = dataset.Categorical
			a, err := split.ParseAlgorithm(name)
			if err != nil {
				t.Fatal(err)
			}
			f := &facts{Run: &runfolder.Run{Tree: m}}
			text := f.reason(&m.Nodes[0])
			if strings.Contains(text, "price") != (a.ByPrice() && cost != 1) || strings.Contains(text, "unit of its price, 0") {
				t.Errorf("%s, a question of price %v: %s", name, cost, text)
			}
		}
	}
}

// TestTrustInFigures: whether probabilities can be trusted is answered by figures, never by a bare word.
func TestTrustInFigures(t *testing.T) {
	for _, off := range []float64{0, 0.01, 0.03, 0.2} {
		f := &facts{Run: &runfolder.Run{Tree: &tree.Tree{}}, part: "test", metrics: &metric.Metrics{
			Rows: 1234, Weight: 1234,
			Calibration: &metric.Calibration{
				ExpectedError: off, MaximumError: 2 * off, Bins: []metric.CalibrationBin{{To: 1, Weight: 1234}},
			},
		}}
		short := f.whatToTrust().Short
		if !strings.Contains(short, "rows they are off by") || !strings.Contains(short, "in the worst tenth") ||
			strings.HasPrefix(short, "Yes") {
			t.Errorf("an error of %v: %s", off, short)
		}
	}
}
