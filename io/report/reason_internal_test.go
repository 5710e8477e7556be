package report

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

// TestReason: the first question is explained by what its algorithm scores, and the price is named if the
// algorithm counts prices. A free question is not said to be divided by 0.
func TestReason(t *testing.T) {
	scores := map[string]string{ // see split.Criterion
		"ec45": "balance + efficiency + 10 \u00d7 discrimination", "ecart": "balance + efficiency + 10 \u00d7 discrimination",
		"asr": "balance + efficiency", "bal": "balance", "ip": "number of pairs of different classes",
		"c45": "is discrimination", "cart": "is discrimination", "cc45": "is discrimination", "ccart": "is discrimination",
	}
	for name, score := range scores {
		for _, cost := range []float64{0, 1, 5} {
			for prices, divisor := range map[string]string{"": "divided by", "root": "square root", "shifted": "1 plus", "floored": "or by 1"} {
				m := pagetest.Tree()
				m.Algorithm.Name, m.Algorithm.Lambda, m.Algorithm.Prices, m.Nodes[0].Test.Cost = name, 10, prices, cost
				m.Nodes[0].ClassWeights = make([]int64, len(m.Label.Classes))
				m.Nodes[0].ClassWeights[0] = 5
				m.Features[0].Kind = dataset.Categorical
				a, err := split.ParseAlgorithm(name)
				if err != nil {
					t.Fatal(err)
				}
				f := &facts{Run: &runfolder.Run{Tree: m}}
				text := strings.Join(f.reason(&m.Nodes[0]), " ")
				divided := a.ByPrice() && (cost != 1 || prices != "")
				if !strings.Contains(text, score) || strings.Contains(text, divisor) != divided || strings.Contains(text, "its price, 0") != (divided && cost == 0 && prices != "") {
					t.Errorf("%s, prices %q, a question of price %v: %s", name, prices, cost, text)
				}
				if strings.Contains(text, "Gini") != (a.Impurity() == split.Gini) || !strings.Contains(text, "of all questions,") {
					t.Errorf("%s: %s", name, text)
				}
				m.Algorithm.RootByCodes = true
				if text = strings.Join(f.reason(&m.Nodes[0]), " "); !strings.Contains(text, "together tell the most") || strings.Contains(text, "of all questions,") {
					t.Errorf("%s, the root chosen by its codes: %s", name, text)
				}
			}
		}
	}
}

// TestReasonOfGroup: the price of the group, which the first question pays, is part of the price if scores
// count it.
func TestReasonOfGroup(t *testing.T) {
	for setUps, want := range map[string]string{
		"":       "divided by its price and the price of its group, 25.",
		"shared": "divided by its price, 5, and its share of the price of its group, 20.",
		"free":   "divided by its price, 5.",
	} {
		m, billed := pagetest.Tree(), 25.0
		m.Algorithm.Name, m.Algorithm.SetUps, m.Algorithm.CostUnit = "cc45", setUps, ""
		m.Nodes[0].Test.Cost, m.Nodes[0].Test.Billed = 5, &billed
		f := &facts{Run: &runfolder.Run{Tree: m}}
		if text := strings.Join(f.reason(&m.Nodes[0]), " "); !strings.Contains(text, want) {
			t.Errorf("set-ups %q: want %q in %s", setUps, want, text)
		}
	}
}

// TestTrustInFigures: whether probabilities can be trusted is answered by figures, never by a bare word.
func TestTrustInFigures(t *testing.T) {
	for _, off := range []float64{0, 0.01, 0.03, 0.2} {
		f := &facts{Run: &runfolder.Run{Tree: &tree.Tree{}}, part: "test", metrics: &metric.Metrics{
			Rows: 1234, Weight: 1234,
			Calibration: &metric.Calibration{
				ExpectedError: &off, ObservedError: off, ChanceError: new(0.), ChanceLimit: new(0.), MaximumError: 2 * off, Bins: []metric.CalibrationBin{{To: 1, Weight: 1234}},
			},
		}}
		short := f.whatToTrust().Short
		if !strings.Contains(strings.ToLower(short), "off by ") || !strings.Contains(short, "1,234 test rows") ||
			strings.HasPrefix(short, "Yes") {
			t.Errorf("an error of %v: %s", off, short)
		}
		c := f.metrics.Calibration
		c.ExpectedError = nil
		c.ChanceError = nil
		c.ChanceLimit = nil
		short = f.whatToTrust().Short // rows of groups depend on each other
		if !strings.HasPrefix(short, "Off by ") || !strings.Contains(short, "is not known) on 1,234 test rows") {
			t.Errorf("an error of %v, and unknown chance: %s", off, short)
		}
	}
}
