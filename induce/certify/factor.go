package certify

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// logFactor returns the factor of the paper's theorem for these data: a tree that
// the criterion grows costs at most
//
//	300 (1 + ln 1/epsilon + log2 n + lambda I)
//
// times the optimum (section "Proof of Theorem 1": 20 rho with
// rho = 15 (1 + ln 1/epsilon + log n + lambda I); the base of the second
// logarithm, which the paper leaves open, is taken to be 2, the weaker reading).
// n is the number of objects, epsilon the least positive increment of any
// object's f_i, I the greatest impurity that an object's class can have in a
// node; see smallestIncrement and greatestImpurity. It returns 0 for criteria
// without a guarantee.
func (p *problem) logFactor(opts *Options) float64 {
	impurity := 0.0
	switch opts.Algorithm {
	case split.EC45:
		impurity = float64(opts.Lambda * p.greatestImpurity(portable.Log2))
	case split.ECART:
		impurity = float64(opts.Lambda * p.greatestImpurity(func(odds float64) float64 { return 1 - 1/odds }))
	case split.ASR:
	default:
		return 0
	}
	if p.sets() {
		return 0 // the growth only looks at some of the sets
	}
	if p.trivial() {
		return 1
	}
	return 300 * (1 + portable.Log(1/p.smallestIncrement()) + portable.Log2(float64(p.len())) + impurity)
}

// sets reports whether some feature has tests for sets.
func (p *problem) sets() bool {
	return slices.ContainsFunc(p.features, func(f feature) bool { return f.sets })
}

// smallestIncrement returns a lower bound on epsilon. For an object i in a node v
//
//	1 - f_i = max(w_v - m, 0)/(W - m) * pairs(v)/pairs,  m = max(w_i, theta W).
//
// A test with two outcomes in v takes away at least the lightest object, or all
// weight of v above m. That weight is at least the lightest object if m = w_i.
// Otherwise it is at least the distance from theta W to the next multiple of the
// weights' greatest common divisor. At least one pair is left before the test.
func (p *problem) smallestIncrement() float64 {
	n := float64(p.len())
	squares := 0.0
	for _, members := range p.members {
		squares += float64(float64(len(members)) * float64(len(members)))
	}
	theta := p.limit / (1 + leafSlack)
	least := float64(p.lightest)
	if unit := float64(p.weightUnit()); theta > least {
		next := float64((math.Floor(theta/unit+1e-9) + 1) * unit)
		least = min(least, next-theta)
	}
	return least / (float64(p.total) - max(theta, float64(p.lightest))) / ((float64(n*n) - squares) / 2)
}

// weightUnit returns the greatest common divisor of the weights.
func (p *problem) weightUnit() int64 {
	unit := uint64(0)
	for _, w := range p.weight {
		unit = gcd(unit, uint64(w))
	}
	return int64(unit)
}

// greatestImpurity returns the greatest impurity of an object's class in a node
// with the object: the node holds no other object of the class, and all objects of
// the other classes. The argument of impurity is the inverse of the class's share. Of soft
// objects each class counts that an object has a share of.
func (p *problem) greatestImpurity(impurity func(odds float64) float64) float64 {
	most := 0.0
	for _, s := range p.shares {
		if s.weight > 0 {
			most = max(most, impurity(float64(p.total-s.weight+s.lightest)/float64(s.lightest)))
		}
	}
	if p.shares != nil {
		return most
	}
	for _, members := range p.members {
		weight := int64(0)
		lightest := int64(math.MaxInt64)
		for _, i := range members {
			weight += p.weight[i]
			lightest = min(lightest, p.weight[i])
		}
		if weight > 0 {
			most = max(most, impurity(float64(p.total-weight+lightest)/float64(lightest)))
		}
	}
	return most
}

// assumptions lists the theorem's assumptions that the data and options decide.
func (p *problem) assumptions(d Data, opts *Options) []tree.Assumption {
	theta := opts.Theta * float64(p.total)
	multiple := theta / float64(p.weightUnit())
	relabelled := int64(0)
	for i := range d.Objects.Len() {
		for _, cw := range d.Objects.Labels(i) {
			if cw.Class != d.Objects.Class[i] {
				relabelled += cw.Weight
			}
		}
	}
	least := math.Inf(1)
	whole := p.unit > 0
	prices := p.prices()
	for _, c := range prices[len(p.groups):] {
		least = min(least, c)
	}
	grouped := len(p.groups) > 0
	proven := opts.Algorithm == split.EC45 || opts.Algorithm == split.ECART || opts.Algorithm == split.ASR
	list := []tree.Assumption{
		needed("criterion", proven && opts.Lambda >= 0, "%v with lambda %v; proven for ec45, ecart and asr "+
			"with lambda >= 0", opts.Algorithm, opts.Lambda),
		needed("additive_costs", !opts.RepeatFree && !grouped, "every test costs its own price each time: "+
			"free repeats %v, groups %d", opts.RepeatFree, len(p.groups)),
		needed("positive_costs", least > 0, "the cheapest test costs %v", least),
		needed("distinct_objects", p.mixed == 0, "%d sets of equal codes with objects of several classes", p.mixed),
		helpful("integral_costs", whole, "whole numbers; others are multiples of a common unit too, by which "+
			"the proof may be scaled: the factor has no cost in it"),
		helpful("theta_multiple", math.Abs(multiple-math.Round(multiple)) <= 1e-9*max(1, multiple),
			"theta W = %v, weights are multiples of %d, the lightest object weighs %d of %d; else "+
				"epsilon, which the factor takes into account, may be small", theta, p.weightUnit(), p.lightest, p.total),
		helpful("labels_kept", relabelled == 0, "weight %d has another class than its object: the factor "+
			"speaks of objects by their majority class", relabelled),
	}
	if p.sets() {
		list = append(list, needed("best_test", false, "growth looks at some of the sets of values, in the order of their shares"))
	}
	return list
}

// needed returns an assumption without which the factor does not hold.
func needed(name string, holds bool, detail string, values ...any) tree.Assumption {
	return tree.Assumption{Name: name, Holds: holds, Detail: fmt.Sprintf(detail, values...), Needed: true}
}

// helpful returns an assumption without which the factor may be larger.
func helpful(name string, holds bool, detail string, values ...any) tree.Assumption {
	return tree.Assumption{Name: name, Holds: holds, Detail: fmt.Sprintf(detail, values...)}
}
