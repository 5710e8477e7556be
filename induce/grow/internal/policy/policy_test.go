package policy_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/internal/policy"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// problem is a training set of binary features, with costs of errors.
type problem struct {
	features []dataset.Feature
	objects  *dataset.Objects
	table    induce.LossTable
	added    float64 // rows of the shares of all objects that are added to a leaf
	depth    int     // most tests of a path; 0: unlimited
}

// draw draws a problem. The objects are in a random order.
func draw(r *rand.Rand) *problem {
	p := &problem{added: 10}
	n := 2 + r.IntN(4)
	classes := 2 + r.IntN(2)
	for f := range n {
		feature := growtest.Categorical(string(rune('a'+f)), 2, float64(r.IntN(5))/8)
		if r.IntN(3) == 0 {
			feature = growtest.Numeric(feature.Name, 2, feature.Cost)
		}
		if r.IntN(3) == 0 {
			feature.Group, feature.GroupCost = "lab", 0.25
		}
		p.features = append(p.features, feature)
	}
	for range classes {
		row := make([]float64, classes)
		for k := range row {
			row[k] = float64(2 + r.IntN(40))
		}
		p.table.ErrorCosts = append(p.table.ErrorCosts, row)
	}
	for k := range classes {
		p.table.ErrorCosts[k][k] = 0
	}
	if r.IntN(2) == 0 {
		p.table.Priors = []float64{0.3, 0.7}
		if classes == 3 {
			p.table.Priors = []float64{0.2, 0.3, 0.5}
		}
	}
	p.objects = dataset.NewObjects(dataset.NewLayout(p.features), classes, true, 1<<n)
	for _, cell := range r.Perm(1 << n) {
		codes := make([]int, n)
		for f := range codes {
			codes[f] = cell >> f & 1
		}
		var weights []dataset.ClassWeight
		rows := int64(0)
		for k := range classes {
			if w := r.Int64N(60); w > 0 {
				weights = append(weights, dataset.ClassWeight{Class: uint16(k), Weight: w})
				rows += w
			}
		}
		if rows > 0 {
			p.objects.Append(codes, weights, rows)
		}
	}
	return p
}

func (p *problem) grow() *tree.Tree {
	params := induce.Params{
		Algorithm: split.C45, Family: split.Thresholds, Losses: p.table.Losses(), MaxDepth: p.depth, Empirical: p.added == 0,
	}
	t := tree.New(p.features, policy.Grow(p.objects, split.Columns(p.features), params, nil))
	t.Algorithm.RepeatCost = tree.RepeatFree
	t.Bill()
	return t
}

// weigh returns the weight by class, where the tree is used, of the objects that a path leads to.
func (p *problem) weigh(fixed []int) []float64 {
	raw := p.objects.ClassWeights()
	total := float64(p.objects.TotalWeight())
	sums := make([]float64, len(raw))
	for i := range p.objects.Len() {
		if slices.ContainsFunc(p.order(), func(f int) bool { return fixed[f] >= 0 && p.objects.Codes[f].At(i) != fixed[f] }) {
			continue
		}
		for _, w := range p.objects.Raw(i) {
			factor := 1.0
			if p.table.Priors != nil {
				factor = p.table.Priors[w.Class] * total / float64(raw[w.Class])
			}
			sums[w.Class] += float64(w.Weight) * factor
		}
	}
	return sums
}

func (p *problem) order() []int {
	list := make([]int, len(p.features))
	for f := range list {
		list[f] = f
	}
	return list
}

// errors returns the cost of the errors of a leaf.
func (p *problem) errors(sums, all []float64) float64 {
	here, total := add(sums), add(all)
	if here == 0 {
		return 0
	}
	least := math.Inf(1)
	for predicted := range sums {
		cost := 0.0
		for actual := range sums {
			cost += (sums[actual] + p.added*all[actual]/total) * here / (here + p.added) * p.table.ErrorCosts[actual][predicted]
		}
		least = min(least, cost)
	}
	return least
}

func add(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum
}

// optimum returns the least total cost of any tree below a path, from the definition.
func (p *problem) optimum(fixed []int, all []float64) float64 {
	sums := p.weigh(fixed)
	best := p.errors(sums, all)
	for f := range fixed {
		if fixed[f] >= 0 || p.depth > 0 && len(fixed)-count(fixed, -1) >= p.depth {
			continue
		}
		due := p.features[f].Cost
		if group := p.features[f].Group; group != "" && !slices.ContainsFunc(p.order(), func(g int) bool {
			return fixed[g] >= 0 && p.features[g].Group == group
		}) {
			due += p.features[f].GroupCost
		}
		total := due * add(sums)
		for code := range 2 {
			below := slices.Clone(fixed)
			below[f] = code
			total += p.optimum(below, all)
		}
		best = min(best, total)
	}
	return best
}

// least returns the least total cost of the prunings of a subtree.
func (p *problem) least(t *tree.Tree, v int, fixed []int, all []float64) float64 {
	sums := p.weigh(fixed)
	n := &t.Nodes[v]
	best := p.errors(sums, all)
	if n.Leaf() {
		return best
	}
	total := n.Test.Paid() * add(sums)
	for _, b := range n.Branches {
		below := slices.Clone(fixed)
		for code := range 2 {
			missing := p.features[n.Test.Feature].MissingCode()
			if n.Test.Outcome(code, missing) == b.Outcome {
				below[n.Test.Feature] = code
			}
		}
		total += p.least(t, b.Child, below, all)
	}
	return min(best, total)
}

func count(list []int, x int) (n int) {
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// TestOptimal: with few binary features, some pruning of the grown tree has the least total cost of all trees, whether
// errors are smoothed or not, and with at most one, two or three tests on a path.
func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 1)) //nolint:gosec // data of a test
	large := 0
	for i := range 150 {
		p := draw(r)
		if i%3 > 0 {
			p.depth = r.IntN(4)
			p.added = 0
		}
		grown := p.grow()
		none := slices.Repeat([]int{-1}, len(p.features))
		all := p.weigh(none)
		want, got := p.optimum(none, all), p.least(grown, 0, none, all)
		if !(math.Abs(got-want) <= 1e-6*want) {
			t.Fatalf("the tree costs %v, the optimum is %v: %+v", got, want, p.table)
		}
		if want < 0.9*p.errors(all, all) {
			large++
		}
	}
	if large < 30 {
		t.Errorf("tests pay in %d problems: the problems test too little", large)
	}
}

// TestOrder: the tree does not depend on the order of the objects, and counts all of them.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 2)) //nolint:gosec // data of a test
	for range 30 {
		p := draw(r)
		grown := p.grow()
		if root := &grown.Nodes[0]; root.Weight != p.objects.TotalWeight() || root.Objects != int64(p.objects.Len()) ||
			!slices.Equal(root.RawClassWeights, p.objects.ClassWeights()) {
			t.Fatalf("the root has %d objects of the weight %d, want %d of %d", root.Objects, root.Weight, p.objects.Len(),
				p.objects.TotalWeight())
		}
		q := *p
		q.objects = dataset.NewObjects(dataset.NewLayout(p.features), p.objects.Classes, true, p.objects.Len())
		for i := p.objects.Len() - 1; i >= 0; i-- {
			codes := make([]int, len(p.features))
			for f := range codes {
				codes[f] = p.objects.Codes[f].At(i)
			}
			q.objects.Append(codes, p.objects.Raw(i), p.objects.RowsOf(i))
		}
		if other := q.grow(); !reflect.DeepEqual(grown.Nodes, other.Nodes) {
			t.Fatal("the tree depends on the order of the objects")
		}
	}
}

// TestLimits: trees keep the limits of growth, and a growth that is stopped marks its open nodes.
func TestLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3)) //nolint:gosec // data of a test
	for range 30 {
		p := draw(r)
		for i := range p.table.ErrorCosts {
			for k := range p.table.ErrorCosts[i] {
				p.table.ErrorCosts[i][k] *= 100 // tests pay
			}
		}
		params := induce.Params{
			Algorithm: split.C45, Family: split.Thresholds, Losses: p.table.Losses(), MaxDepth: 2, MinRows: 20, PathCost: 0.75, PathTests: 1,
			PathFurther: dataset.Amounts{4},
		}
		for f := range p.features {
			p.features[f].FurtherCosts = map[string]float64{"minutes": float64(f % 6)}
		}
		columns := split.Columns(p.features)
		grown := tree.New(p.features, policy.Grow(p.objects, columns, params, nil))
		grown.Bill()
		grown.Measure()
		if c := grown.Complexity; c.Depth > 2 || c.MaxCost > 0.75 || grown.PaidTests() > 1 || c.Further.Of("minutes").MaxCost > 4 {
			t.Fatalf("depth %d, cost %v, %d paid tests, %+v: want at most 2, 0.75, 1 and 4 minutes", c.Depth, c.MaxCost, grown.PaidTests(), c.Further)
		}
		for i := range grown.Nodes {
			if n := &grown.Nodes[i]; !n.Leaf() && n.Rows < 20 {
				t.Fatalf("a test of %d rows", n.Rows)
			}
		}
		params.MaxDepth = 0
		params.MinRows = 0
		params.PathCost = 0
		params.PathTests = 0
		params.PathFurther = dataset.Amounts{}
		stopped := policy.Grow(p.objects, columns, params, func() bool { return true })
		if len(stopped) != 1 || !stopped[0].Stopped || stopped[0].Weight != p.objects.TotalWeight() {
			t.Fatalf("%d nodes of a growth that was stopped at once, marked %v", len(stopped), stopped[0].Stopped)
		}
	}
}
