package leafmodel

import (
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

const (
	// leastBoosted is the least number of objects of a node with a booster.
	leastBoosted = 200

	// SharedTrees is the greatest number of trees of a booster that all leaves below a node share, and sharedRate the
	// share of a Newton step that they take: with 20 trees of 0.3, which boosters have otherwise, the AUC within 3 and
	// 4 features of bank-marketing is .003 to .006 lower.
	SharedTrees = 60
	sharedRate  = 0.1

	// draftBoosted takes the place of boost.MaxObjects in drafts.
	draftBoosted = 1 << 12
)

// Boost returns models with boosters, by tree and node. It adds boosters to the models of Fit; a
// leaf without a model starts from its plain probabilities. objects and features are as for Fit.
// Options.Ridge has no effect.
//
// A booster belongs to an inner node whose test asks for a feature for the first time on the path.
// It is fitted to the objects of the node, and uses this feature and the features asked for above.
// A leaf has the booster of the nearest such node above. But if all leaves below a node ask for the same features, they
// share the booster of the highest such node, which uses all of these features. Hardly anything but this booster tells
// rows apart, so it has more trees, each of which takes less, and its splits must gain more than chance. A node with few
// objects has no booster.
func Boost(
	objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, models [][]*Model, o Options,
) [][]*Model {
	boosted := make([][]*Model, len(trees))
	workers := o.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	values := codeValues(features)
	list := make([]*boosting, len(trees))
	for i := range trees {
		b := &boosting{
			walk: walk{objects, features, trees[i : i+1]}, options: o, models: slices.Clone(models[i]),
			width: portable.Scores(objects.Classes),
		}
		b.begin(values)
		list[i] = b
	}
	all := walk{objects, features, trees}
	same := newSubtrees(&all, func(m member) *Model { return list[m.Tree].start(m.Node) })
	// More goroutines than workers, as one may wait for a booster that another fits.
	parallel.Each(len(trees), 2*workers, func(i int) {
		b := list[i]
		b.same = same
		b.numbers = same.numbers[i]
		roots, ids := b.roots()
		b.scores = make([]float64, len(ids)*b.width)
		b.visit(roots[0], ids, nil, nil)
		for _, s := range b.sites {
			b.boost(s)
		}
		boosted[i] = b.models
		list[i] = nil
	})
	return boosted
}

// boosting fits the boosters of one tree.
type boosting struct {
	walk

	options Options
	width   int       // number of scores
	models  []*Model  // by node
	plain   []*Model  // by node: the start of a leaf without a model
	scores  []float64 // by object and score: without boosters
	sites   []*site
	same    *subtrees
	numbers []int // by node: number of its subtree in same
}

// site is an inner node that may have a booster.
type site struct {
	node   int
	asked  []int   // features that the path and the node ask for, ascending
	ids    []int32 // objects of the node
	leaves []int   // leaves below that share the booster
	shared bool    // whether hardly anything but the booster tells the rows of its leaves apart
}

// begin sets the models from which leaves without models start: the shares of the classes, shrunk
// towards the shares in the node above as in a smoothed estimate.
func (b *boosting) begin(values [][]float64) {
	t := b.trees[0]
	scale := t.Training.Scale()
	shares := make([][]float64, len(t.Nodes))
	b.plain = make([]*Model, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if i == 0 {
			shares[0] = shrunk(n.RawClassWeights, slices.Repeat([]float64{scale / 2}, b.objects.Classes))
		}
		for _, branch := range n.Branches {
			prior := make([]float64, b.objects.Classes)
			for k, p := range shares[i] {
				prior[k] = float64(tree.UsualSmoothing * scale * p)
			}
			shares[branch.Child] = shrunk(t.Nodes[branch.Child].RawClassWeights, prior)
		}
		if !n.Leaf() || b.models[i] != nil {
			continue
		}
		intercept := make([]float64, b.width)
		for k := range intercept {
			if intercept[k] = portable.Log(shares[i][k]); b.width == 1 {
				intercept[k] = portable.Log(shares[i][1]) - portable.Log(shares[i][0])
			}
		}
		b.plain[i] = &Model{Leaf: &tree.LeafModel{Intercept: rounded(intercept)}, values: values}
	}
}

// shrunk returns the shares of weights after adding a prior.
func shrunk(weights []int64, prior []float64) []float64 {
	shares := make([]float64, len(weights))
	sum := 0.0
	for k, w := range weights {
		shares[k] = float64(w) + prior[k]
		sum += shares[k]
	}
	for k := range shares {
		shares[k] /= sum
	}
	return shares
}

// visit finds the sites at a node and below, and sets the scores of its objects. s is the nearest
// site above; nil if absent. It returns the features that all leaves below ask for; nil if they ask for different ones.
func (b *boosting) visit(m member, ids []int32, asked []int, s *site) (common []int) {
	n := b.node(m)
	if n.Leaf() {
		start := b.start(m.Node)
		for _, id := range ids {
			start.score(b.objects, int(id), b.scores[int(id)*b.width:][:b.width])
		}
		if s != nil {
			s.leaves = append(s.leaves, m.Node)
		}
		return asked
	}
	above := s
	others := 0 // leaves of the site above that are not below
	if above != nil {
		others = len(above.leaves)
	}
	sites := len(b.sites)
	if at, found := slices.BinarySearch(asked, n.Test.Feature); !found {
		asked = slices.Insert(slices.Clone(asked), at, n.Test.Feature)
		if len(ids) >= leastBoosted {
			s = &site{node: m.Node, asked: asked, ids: ids}
			b.sites = append(b.sites, s)
		}
	}
	first := true
	b.children(members{m}, ids, func(children members, ids []int32) {
		of := b.visit(children[0], ids, asked, s)
		if first {
			common = of
		} else if !slices.Equal(common, of) {
			common = nil
		}
		first = false
	})
	if common == nil || len(common) == len(asked) || len(ids) < leastBoosted {
		return common
	}
	shared := &site{node: m.Node, asked: common, ids: ids, shared: true}
	if above != nil {
		shared.leaves = slices.Clone(above.leaves[others:])
		above.leaves = above.leaves[:others]
	}
	for _, below := range b.sites[sites:] {
		shared.leaves = append(shared.leaves, below.leaves...)
	}
	b.sites = append(b.sites[:sites], shared)
	return common
}

// start returns the model that a leaf has without boosters.
func (b *boosting) start(leaf int) *Model {
	if m := b.models[leaf]; m != nil {
		return m
	}
	return b.plain[leaf]
}

// boost gives the booster of a site to the leaves.
func (b *boosting) boost(s *site) {
	if len(s.leaves) == 0 || b.options.Stop != nil && b.options.Stop() {
		return
	}
	made := b.same.booster(b.numbers[s.node], func() *boost.Evaluator { return b.fit(s) })
	if len(made.Booster.Trees) == 0 {
		return
	}
	for _, leaf := range s.leaves {
		b.models[leaf] = b.same.with(b.numbers[leaf], made, b.start(leaf))
	}
}

// fit fits the booster of a site.
func (b *boosting) fit(s *site) *boost.Evaluator {
	most := boost.MaxObjects
	if b.options.Draft {
		most = draftBoosted
	}
	ids := s.ids[:min(len(s.ids), most)]
	scores := make([]float64, 0, len(ids)*b.width)
	for _, id := range ids {
		scores = append(scores, b.scores[int(id)*b.width:][:b.width]...)
	}
	options := boost.Options{Scale: b.options.Scale, Stop: b.options.Stop}
	if s.shared {
		options.Gain = boost.ChanceGain
		options.Trees = SharedTrees
		options.Rate = sharedRate
	}
	return boost.Fit(b.objects, b.features, s.asked, ids, scores, options).Evaluator(b.features, b.width)
}

// Shorten returns models, by tree and node, whose boosters keep only their first trees, at most
// most.
func Shorten(models [][]*Model, most int) [][]*Model {
	short := make(map[*boost.Evaluator]*boost.Evaluator)
	list := make([][]*Model, len(models))
	with := make(map[*Model]*Model)
	for t := range models {
		list[t] = slices.Clone(models[t])
		for i, m := range models[t] {
			if m == nil || m.booster == nil || len(m.Leaf.Booster.Trees) <= most {
				continue
			}
			long := m.booster
			if short[long] == nil {
				short[long] = long.First(most)
			}
			if with[m] == nil {
				with[m] = m.with(short[long])
			}
			list[t][i] = with[m]
		}
	}
	return list
}

// with returns the model with a booster.
func (m *Model) with(b *boost.Evaluator) *Model {
	c := *m
	c.booster = b
	c.Leaf = &tree.LeafModel{Intercept: m.Leaf.Intercept, Terms: m.Leaf.Terms, Booster: b.Booster}
	return &c
}
