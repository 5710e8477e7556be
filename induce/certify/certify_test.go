package certify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/certify"
)

// has reports whether a name was noted.
func has(noted, name string) bool { return strings.Contains(noted, name+";") }

// with notes a name, in order.
func with(noted, name string) string {
	if has(noted, name) {
		return noted
	}
	list := append(strings.SplitAfter(noted, ";"), name+";")
	slices.Sort(list)
	return strings.Join(list, "")
}

// TestBoundBelowOptimum: on small instances every method's bound is at most the
// optimum by brute force, which is at most the greedy tree's cost. It logs how
// far apart they are.
func TestBoundBelowOptimum(t *testing.T) {
	instances := 1000
	if testing.Short() {
		instances = 100
	}
	for _, free := range []bool{false, true} {
		for _, grouped := range []bool{false, true} {
			t.Run(fmt.Sprintf("free=%v/grouped=%v", free, grouped), func(t *testing.T) {
				r := rand.New(rand.NewPCG(6, uint64(len(t.Name()))))
				ratios := make(map[string][]float64)
				for at := range instances {
					in := newInstance(r, free, grouped)
					testInstance(t, at, in, ratios)
				}
				var names []string
				for name := range ratios {
					names = append(names, name)
				}
				slices.Sort(names)
				for _, name := range names {
					list := ratios[name]
					slices.Sort(list)
					t.Logf("%-20s optimum/bound: median %.3f, 90%% %.3f, worst %.3f of %d", name, list[len(list)/2], list[len(list)*9/10], list[len(list)-1], len(list))
				}
			})
		}
	}
}

func testInstance(t *testing.T, at int, in *instance, ratios map[string][]float64) {
	t.Helper()
	optimum, greedy := in.optimum(), in.greedy()
	if optimum > greedy+1e-9 {
		t.Fatalf("instance %d: optimum %v above the greedy tree's %v", at, optimum, greedy)
	}
	exact := certify.Certify(in.Data, in.opts)
	if exact.Method != certify.Optimum || exact.Cost > optimum || exact.Cost < optimum-1e-6*(1+optimum) {
		t.Errorf("instance %d: %+v, want the optimum %v", at, exact, optimum)
	}
	best := 0.0
	for _, m := range certify.Methods(in.Data, in.opts) {
		if m.Cost > optimum*(1+1e-9)+1e-9 {
			t.Errorf("instance %d: %s bounds by %v what costs %v; family %v theta %v\n%+v\n%+v", at, m.Name, m.Cost, optimum, in.opts.Family, in.opts.Theta, in.Features, in.Objects)
		}
		best = max(best, m.Cost)
		if optimum > 0 {
			ratios[m.Name] = append(ratios[m.Name], optimum/max(m.Cost, 1e-9))
		}
	}
	if optimum > 0 {
		ratios["best"] = append(ratios["best"], optimum/max(best, 1e-9))
		ratios["greedy/optimum"] = append(ratios["greedy/optimum"], greedy/optimum)
	}
}
