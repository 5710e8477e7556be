package crossvalidate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestDecide: folds are grown for up to 20,000 training objects and, where the rarest class has less
// than 200 validation rows, for up to 50,000, unless the user says otherwise.
func TestDecide(t *testing.T) {
	auto := crossvalidate.Setting{Auto: true}
	for _, c := range []struct {
		setting       crossvalidate.Setting
		rare, objects float64
		want          crossvalidate.Decision
	}{
		{auto, 199, 50_000, crossvalidate.Decision{Folds: 5, Reason: crossvalidate.RareRows}},
		{auto, 0, 1, crossvalidate.Decision{Folds: 5, Reason: crossvalidate.Few}},
		{auto, 1e4, 20_000, crossvalidate.Decision{Folds: 5, Reason: crossvalidate.Few}},
		{auto, 0, 20_001, crossvalidate.Decision{Folds: 5, Reason: crossvalidate.RareRows}},
		{auto, 199.9, 50_000, crossvalidate.Decision{Folds: 5, Reason: crossvalidate.RareRows}},
		{auto, 200, 20_001, crossvalidate.Decision{Reason: crossvalidate.Enough}},
		{auto, 200, 1e9, crossvalidate.Decision{Reason: crossvalidate.Enough}}, // both limits: the rows are told
		{auto, 199, 50_001, crossvalidate.Decision{Reason: crossvalidate.TooMany}},
		{auto, 199, 50_000.5, crossvalidate.Decision{Reason: crossvalidate.TooMany}}, // an estimate
		{crossvalidate.Setting{}, 0, 1, crossvalidate.Decision{Reason: crossvalidate.Asked}},
		{crossvalidate.Setting{Number: 7}, 1e6, 1e9, crossvalidate.Decision{Folds: 7, Reason: crossvalidate.Asked}},
	} {
		if got := c.setting.Decide(c.rare, c.objects); got != c.want {
			t.Errorf("%+v, %v rare rows, %v objects: %+v, want %+v", c.setting, c.rare, c.objects, got, c.want)
		}
	}
}

func TestParseSetting(t *testing.T) {
	for text, want := range map[string]crossvalidate.Setting{
		"auto": {Auto: true}, "0": {}, "2": {Number: 2}, "100": {Number: 100},
	} {
		if got, err := crossvalidate.ParseSetting(text); got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "-1", "101", "2.5", "many"} {
		if _, err := crossvalidate.ParseSetting(text); err == nil ||
			!strings.HasSuffix(err.Error(), `"`+text+`": want auto, 0 or 2 to 100`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRarest: by hand. Node 0 is an inner node. Of the weight 80 class 2 has 5, which
// stand for 5/80 of 160 rows.
func TestRarest(t *testing.T) {
	counts := &tree.LeafCounts{Weights: [][]int64{nil, {30, 20, 1}, {10, 15, 4}}, Rows: []int64{0, 100, 60}}
	if got := crossvalidate.Rarest(counts, 3); math.Abs(got-10) > 1e-12 {
		t.Errorf("%v rows, want 10", got)
	}
	if got := crossvalidate.Rarest(counts, 4); got != 0 {
		t.Errorf("%v rows of a class that no row has", got)
	}
	if got := crossvalidate.Rarest(&tree.LeafCounts{Weights: [][]int64{{0, 0}}, Rows: []int64{0}}, 2); got != 0 {
		t.Errorf("%v rows of none", got)
	}
}
