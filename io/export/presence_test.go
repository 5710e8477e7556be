package export_test

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// TestPresence: a row without a value that nobody ordered ends at the presence test in all formats, for nothing.
func TestPresence(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(60, 5))
	plain := setsTree(random, 12)
	for i := range plain.Features {
		plain.Features[i].Unordered = true
		plain.Features[i].Cost = 30
	}
	for i := range plain.Nodes {
		if n := &plain.Nodes[i]; !n.Leaf() {
			n.Test.Cost = 30
		}
	}
	m := tree.New(plain.Features, plain.Nodes)
	m.Label = plain.Label
	m.Algorithm.RepeatCost = tree.RepeatFree
	m.Bill()
	m.Estimate(tree.Smoothed, 1)
	m.Measure()
	if !m.HasPresenceTests() {
		t.Fatal("no presence test")
	}
	rows := append(export.GoldenRows(m), randomRows(random, m, 200)...)
	for _, o := range variants() {
		if !longtest.Enabled() && (slow(o.Format) || o.Dialect != "") {
			continue
		}
		t.Run(o.Format+o.Dialect, func(t *testing.T) {
			t.Parallel()
			verifyOptions(t, m, o, rows)
		})
	}
}
