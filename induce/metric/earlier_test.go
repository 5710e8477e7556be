package metric_test

import (
	"encoding/json"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

// TestEarlierMetrics: metrics of version 0.3, whose expected_cost is the cost of the tests at their own
// prices, are read with the billed cost, and so are the metrics of slices. Metrics of versions without
// expected_billed_cost keep their cost.
func TestEarlierMetrics(t *testing.T) {
	const (
		costs = `"expected_cost": 55.3, "expected_tests": 5.5, "expected_billed_cost": 20, "intervals": {
			"expected_cost": {"standard_error": 3, "low": 50, "high": 60},
			"expected_billed_cost": {"standard_error": 1, "low": 18, "high": 22}}`
		document = `{"rows": 9, ` + costs + `, "slices": [{"column": "a", "of": "missing", ` + costs + `}]}`
	)
	var m metric.Metrics
	if err := json.Unmarshal([]byte(document), &m); err != nil {
		t.Fatal(err)
	}
	if m.Rows != 9 || *m.ExpectedTests != 5.5 || len(m.Slices) != 1 {
		t.Fatalf("got %+v", m)
	}
	for name, got := range map[string]struct {
		cost *float64
		*metric.Intervals
	}{"part": {m.ExpectedCost, m.Intervals}, "slice": {m.Slices[0].ExpectedCost, m.Slices[0].Intervals}} {
		if *got.cost != 20 || got.ExpectedCost.Low != 18 {
			t.Errorf("%s: cost %v from %v, want the billed cost 20 from 18", name, *got.cost, got.ExpectedCost.Low)
		}
	}
	sorted := `{"expected_billed_cost" : 20, "expected_cost": 55.3, "intervals": null, "rows": 9}`
	var other metric.Metrics
	if err := json.Unmarshal([]byte(sorted), &other); err != nil || *other.ExpectedCost != 20 {
		t.Errorf("members in another order: %v, %v; want the billed cost 20", other.ExpectedCost, err)
	}
	var first metric.Metrics
	if err := json.Unmarshal([]byte(`{"expected_cost": 3, "intervals": null}`), &first); err != nil {
		t.Fatal(err)
	}
	if *first.ExpectedCost != 3 {
		t.Errorf("without a billed cost: %v", *first.ExpectedCost)
	}
}
