package drifting_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// day writes rows of one distribution: a number, a category with rare values, and a class that depends on both. Later
// days of a drift have greater numbers.
func day(t *testing.T, seed uint64, rows int, drift float64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	x, shop, class := make([]float64, rows), make([]string, rows), make([]string, rows)
	for i := range rows {
		x[i] = r.NormFloat64() + drift
		shop[i] = string(rune('a' + min(r.IntN(26), r.IntN(26))))
		class[i] = []string{"no", "yes"}[r.IntN(2)]
		if x[i] > 0.5 || shop[i] < "d" && r.IntN(4) > 0 {
			class[i] = "yes"
		}
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "shop", Values: shop}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDaysWithoutDrift: of 200 days without drift, at most so many give an alarm as the stated rate allows. At a rate of
// 0.05, more than 16 of 200 come with a probability of 0.03 (binomial); the seeds are fixed. PSI is no condition here,
// so that the rate is that of the tests alone. A day that has drifted gives an alarm.
func TestDaysWithoutDrift(t *testing.T) {
	ctx := t.Context()
	train := pipelines.DefaultConfig()
	train.Input, train.Label, train.Select = []string{day(t, 1, 4000, 0)}, "class", "first"
	train.Output = filepath.Join(t.TempDir(), "run")
	if _, err := pipelines.Train(ctx, train, engine.Silent{}); err != nil {
		t.Fatal(err)
	}
	alarms := func(seed uint64, drift, rate, psi float64) []string {
		c := pipelines.DefaultDriftConfig()
		c.Model, c.Input, c.FalseAlarms, c.LeastPSI = train.Output, []string{day(t, seed, 800, drift)}, rate, psi
		found, err := pipelines.Drift(ctx, c, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Alarms()
	}
	days := 0
	for seed := range uint64(200) {
		if list := alarms(seed+2, 0, 0.05, 0); len(list) > 0 {
			days++
		}
	}
	if days > 16 {
		t.Errorf("%d of 200 days without drift give an alarm, at a rate of 0.05", days)
	}
	if list := alarms(500, 0, 0.01, 0.1); len(list) > 0 {
		t.Errorf("by default a day without drift gives an alarm: %q", list)
	}
	if list := alarms(501, 0.5, 0.01, 0.1); len(list) == 0 || list[0] != "x" {
		t.Errorf("a day that has drifted gives alarms of %q, want x first", list)
	}
}
