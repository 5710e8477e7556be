package grid

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Most bounds the members of a grid.
const Most = 256

// AutoLambdas returns the paper's grid of lambda, from large to small. The paper lowers lambda
// until the validation AUC falls.
func AutoLambdas() []float64 { return []float64{1000, 300, 100, 30, 10, 3, 1, 0.3, 0.1} }

// Member is a tree of the grid: how it is grown, and how tree.json describes that.
type Member struct {
	Params    induce.Params
	Algorithm tree.Algorithm
}

// Axes are the settings whose values make a grid. Each list has at least one value.
type Axes struct {
	Algorithms []split.Algorithm
	Lambdas    []float64
	Thetas     []float64
	Families   []split.Family

	Classes  split.Classes
	MaxDepth int     // 0: unlimited
	MinRows  int64   // least number of rows of an inner node
	MaxCost  float64 // greatest billed cost of a path; 0: unlimited
	MaxTests int     // greatest number of tests on a path that cost something; 0: unlimited
	Priced   bool    // whether prices of tests differ, or depend on the path

	Record tree.Algorithm // what tree.json records equally for all trees
}

// Members returns a tree for each combination of algorithm, lambda, theta and family of tests,
// without duplicates. Algorithms without a lambda have a lambda of 0, unless they
// are alone. Algorithms that count prices are left out if all tests cost the same and the grid
// contains the algorithm without prices. The first tree has the first value of each setting.
func (a *Axes) Members() []Member {
	var members []Member
	for _, p := range a.starts() {
		for _, theta := range a.Thetas {
			for _, algorithm := range a.Algorithms {
				for _, lambda := range a.Lambdas {
					p.Algorithm = algorithm
					p.Lambda = lambda
					p.Theta = theta
					m := a.member(p)
					same := func(other Member) bool { return other.Params == m.Params }
					if !a.redundant(algorithm) && !slices.ContainsFunc(members, same) {
						members = append(members, m)
					}
				}
			}
		}
	}
	return members
}

// starts returns parameters for each family of tests.
func (a *Axes) starts() []induce.Params {
	var list []induce.Params
	for _, family := range a.Families {
		list = append(list, induce.Params{
			Family: family, Classes: a.Classes, MaxDepth: a.MaxDepth, MinRows: a.MinRows,
			PathCost: a.MaxCost, PathTests: a.MaxTests,
		})
	}
	return list
}

// redundant reports whether an algorithm grows the same trees as another algorithm of the grid.
func (a *Axes) redundant(algorithm split.Algorithm) bool {
	if a.Priced {
		return false
	}
	return algorithm == split.CC45 && slices.Contains(a.Algorithms, split.C45) ||
		algorithm == split.CCART && slices.Contains(a.Algorithms, split.CART)
}

func (a *Axes) member(p induce.Params) Member {
	if !p.Algorithm.HasLambda() && len(a.Algorithms)*len(a.Lambdas) > 1 {
		p.Lambda = 0
	}
	m := Member{p, a.Record}
	m.Algorithm.Name = p.Algorithm.String()
	m.Algorithm.Lambda = p.Lambda
	m.Algorithm.Theta = p.Theta
	m.Algorithm.Tests = p.Family.String()
	m.Algorithm.MaxDepth = p.MaxDepth
	m.Algorithm.MinRows = p.MinRows
	m.Algorithm.MaxCost = p.PathCost
	m.Algorithm.MaxTests = p.PathTests
	if p.Classes == split.OfRows {
		m.Algorithm.Classes = tree.ClassesOfRows
	}
	return m
}

// WithFurther returns the members with limits on the cost of a path in further currencies, in the order of units.
func WithFurther(members []Member, limits dataset.Amounts, units []string) []Member {
	if limits == (dataset.Amounts{}) {
		return members
	}
	list := slices.Clone(members)
	for i := range list {
		m := &list[i]
		m.Params.PathFurther = limits
		m.Algorithm.MaxFurther = make(map[string]float64)
		for k, unit := range units {
			if limits[k] > 0 {
				m.Algorithm.MaxFurther[unit] = limits[k]
			}
		}
	}
	return list
}

// WithPricing returns the grid for tests with different prices. Each tree whose score counts prices
// and that has the first family of tests is grown once for each method
// of counting them (see split.Pricing). All trees have the least theta of the grid, except the
// first tree, which stays as it is: several methods of counting prices find more than several
// thetas, and pruning makes leaves larger. grouped means that groups of features have prices.
// freeRepeats means that only the first test of a feature on a path is paid: then trees are also grown
// with at most one and at most two different features on a path. Otherwise hardly any tree is cut
// finely along the first features before it buys others. Every second tree of one feature has the last family
// of tests (by default all of them, as values that few rows have are told apart by single tests rather than by sets),
// and the feature whose codes together gain the most: a feature without a good single cut can be the best to cut
// finely.
//
// The grid stays as it is if the rule of choice does not compare methods of growing trees:
// frontier.First takes the first tree, and frontier.Paper compares lambdas.
func WithPricing(members []Member, rule frontier.Rule, grouped, freeRepeats bool) []Member {
	if len(members) < 2 || rule == frontier.First || rule == frontier.Paper {
		return members
	}
	first := &members[0].Params
	last := members[len(members)-1].Params.Family
	least := first.Theta
	for i := range members {
		least = min(least, members[i].Params.Theta)
	}
	priced := members[:1:1]
	var further, narrow []Member
	for i, m := range members {
		if m.Params.Theta > least {
			continue
		}
		if i > 0 {
			priced = append(priced, m)
		}
		if m.Params.Family != first.Family {
			continue
		}
		if m.Params.Algorithm.ByPrice() {
			further = append(further, m.counting(grouped)...)
		}
		if freeRepeats {
			narrow = append(narrow, m.narrow(len(narrow)/2%2 == 1, last)...)
		}
	}
	return slices.Concat(priced, further, narrow)
}

// narrow returns the member with one and with two features on a path. If other, the first of them has the given
// family of tests, and the feature of its root is chosen by codes, see induce.Params.RootByCodes.
func (m Member) narrow(other bool, family split.Family) []Member {
	list := make([]Member, 2)
	for i := range list {
		m.Params.PathFeatures = i + 1
		m.Algorithm.PathFeatures = i + 1
		list[i] = m
	}
	if other {
		one := &list[0]
		one.Params.Family = family
		one.Params.RootByCodes = true
		one.Algorithm.Tests = family.String()
		one.Algorithm.RootByCodes = true
	}
	return list
}

// deepTheta is the theta of the tree that Deepened adds.
const deepTheta = 0.0001

// Deepened returns the members with one more tree, by entropy alone, whose leaves are smaller than the other trees'. With
// many classes a node of few rows still has several of them: on covertype, of seven classes, the accuracy is .860 without
// this tree, and .912 with it. If trees of entropy are not in the grid, the members stay as they
// are.
func Deepened(members []Member) []Member {
	at := slices.IndexFunc(members, func(m Member) bool { return m.Params.Algorithm == split.C45 })
	if at < 0 || len(members) < 2 || len(members) >= Most {
		return members
	}
	m := members[at]
	m.Params.Theta = deepTheta
	m.Algorithm.Theta = deepTheta
	return append(slices.Clip(members), m)
}

// Confined returns the member that tests the given features only, of all features.
func (m Member) Confined(to []int, features []dataset.Feature) Member {
	m.Params.Selected = split.NewCodeSet(len(features), func(f int) bool { return slices.Contains(to, f) })
	m.Algorithm.Selected = nil
	for _, f := range to {
		m.Algorithm.Selected = append(m.Algorithm.Selected, features[f].Name)
	}
	return m
}

// Once returns the member that tests a feature once on a path, by entropy, however small the nodes are: its paths end
// where they know all features that it may test, or where no test has a gain.
func (m Member) Once() Member {
	m = m.byEntropy(0)
	m.Params.Once = true
	m.Algorithm.Once = true
	return m
}

// Policy returns the member that grows by the total cost of tests and errors, see package policy. It has no score of its
// own: its prunings in other currencies are by entropy.
func (m Member) Policy(losses induce.Losses, theta float64) Member {
	m = m.byEntropy(theta)
	m.Params.Losses = losses
	m.Algorithm.Objective = tree.TotalCost
	return m
}

// Shallow returns the member of a policy with trees of at most depth levels that count the errors of the training rows as
// they are, because few tests cannot fit much noise.
func (m Member) Shallow(depth int) Member {
	m.Params.MaxDepth = depth
	m.Algorithm.MaxDepth = depth
	m.Params.Empirical = true
	m.Algorithm.Objective = tree.EmpiricalTotal
	return m
}

// byEntropy returns the member with the score of C4.5 and another theta.
func (m Member) byEntropy(theta float64) Member {
	m.Params.Algorithm = split.C45
	m.Params.Lambda = 0
	m.Params.Theta = theta
	m.Algorithm.Name = split.C45.String()
	m.Algorithm.Lambda = 0
	m.Algorithm.Theta = theta
	return m
}

// counting returns the member with each further method of counting prices.
func (m Member) counting(grouped bool) []Member {
	ways := []split.Pricing{{Prices: split.RootPrices}, {Prices: split.ShiftedPrices}}
	if grouped {
		for _, s := range []split.SetUps{split.SharedSetUps, split.FreeSetUps} {
			ways = append(ways, split.Pricing{Prices: split.RootPrices, SetUps: s},
				split.Pricing{Prices: split.ShiftedPrices, SetUps: s})
		}
		ways = append(ways, split.Pricing{Prices: split.FlooredPrices, SetUps: split.SharedSetUps})
	}
	list := make([]Member, len(ways))
	for i, way := range ways {
		m.Params.Pricing = way
		m.Algorithm.Prices, m.Algorithm.SetUps = way.Prices.String(), way.SetUps.String()
		list[i] = m
	}
	return list
}

// Differ reports whether features have different costs; the cost is 1 if costs has none.
func Differ(costs map[string]float64, features []string) bool {
	cost := func(feature string) float64 {
		if c, ok := costs[feature]; ok {
			return c
		}
		return 1
	}
	return slices.ContainsFunc(features, func(f string) bool { return cost(f) != cost(features[0]) })
}

// ManyRows is the number of rows from which 512 bins work better than 128, as measured on the
// public data sets of the paper: with more rows finer cuts find more, with fewer rows they find
// noise.
const ManyRows = 30_000

// If a class has an interval of a feature to itself, quantile cuts miss its ends by up to half a
// bin: with binsPerClass bins per class, about one row in 4 * binsPerClass is on the wrong side.
const (
	binsPerClass = 16
	mostAutoBins = 1 << 14 // a quarter of the numbers of two bytes
)

// AutoBins returns the number of bins that suits this many rows and classes: see ManyRows and
// binsPerClass. With up to 8 classes only the rows count.
func AutoBins(rows int64, classes int) int {
	bins := 128
	if rows >= ManyRows {
		bins = 512
	}
	return max(bins, min(binsPerClass*classes, mostAutoBins))
}

// Settle records what members depend on the rows for: their bins, and induce.Params.RowWeight.
func Settle(members []Member, bins int, rowWeight float64) {
	for i := range members {
		members[i].Algorithm.Bins = bins
		members[i].Params.RowWeight = rowWeight
	}
}

// SettleTests leaves out tests for sets of values that no feature has, and members that are then the same. A feature of
// two values has none, as a test for one value is also a test for a set.
func SettleTests(members []Member, features []dataset.Feature) []Member {
	values := 0 // the most values of a feature
	codes := 0
	for i := range features {
		if f := &features[i]; !f.Ordered {
			values = max(values, len(f.Values))
			codes = max(codes, f.Codes())
		}
	}
	var list []Member
	for _, m := range members {
		if values < 3 || !m.Params.Family.Sets(codes) {
			m.Params.Family = m.Params.Family.WithoutSets()
		}
		m.Algorithm.Tests = m.Params.Family.String()
		if !slices.ContainsFunc(list, func(other Member) bool { return other.Params == m.Params }) {
			list = append(list, m)
		}
	}
	return list
}

// SingleBins reports whether some members have tests for single bins.
func SingleBins(members []Member) bool {
	return slices.ContainsFunc(members, func(m Member) bool {
		return m.Params.Family.Bins()
	})
}
