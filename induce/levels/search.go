package levels

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// search seeks the best tests of one open node, pass after pass.
type search struct {
	*Grower

	open    *Open
	other   []int64 // class weights, see Grower.describe
	rows    int64
	cells   []int64 // of all features; nil: not kept
	seekers []*seeker
}

// seeker is a tree that seeks its best test of the node.
type seeker struct {
	Member

	scanner *split.Scanner
	heavies []split.Heavy // of the heavy objects of the pass by code; nil: there are none
	best    float64       // score
	found   []found       // tests whose scores tie with the best so far
	rivals  *rivals       // nil: the tree does not name the node's runner-up

	restricted bool // the feature that the node has to test has been scanned, and has tests
}

// found is a test, with all that a split by it needs.
type found struct {
	split.Candidate

	parts    split.Parts
	outcomes []int32
	cells    [][]int64 // sums of the objects by outcome
}

// newSearch returns a search for the trees that may split a node.
func (g *Grower) newSearch(o *Open) *search {
	s := &search{Grower: g, open: o}
	for _, m := range o.Members {
		if g.wantsSplit(o, m.Tree) {
			k := &seeker{Member: m, scanner: split.NewScanner(g.criteria[m.Tree]), best: math.Inf(-1)}
			if c := g.criteria[m.Tree]; c.Compares(c.NewTotals(o.Objects, o.Weight).Weight) {
				k.rivals = newRivals()
			}
			s.seekers = append(s.seekers, k)
		}
	}
	return s
}

// add adds the counts of a pass, where the node has the given position.
func (s *search) add(p *Pass, c *Counts, at int) {
	cells := c.counted(s.Grower, at)
	inferred, infers := c.inferred[at]
	if infers {
		cells = inferred.cells
	}
	if p.From == 0 {
		if s.other, s.rows = inferred.other, inferred.rows; !infers {
			s.other, s.rows = c.other(s.Grower, at)
		}
		s.seekers = slices.DeleteFunc(s.seekers, func(k *seeker) bool {
			least := s.Trees[k.Tree].MinRows
			return least > 0 && s.rows < least || s.labelled(s.open, s.other)
		})
	}
	if len(s.seekers) == 0 || len(cells) == 0 {
		return
	}
	s.scan(p, cells, s.begin(p, at, c.heavy[c.heavyStarts[at]:c.heavyStarts[at+1]]))
	if p.To-p.From == len(s.Columns) {
		s.cells = cells
	}
}

// begin prepares the seekers that scan a pass, and returns them. heavies are the sums of the
// node's heavy objects.
func (s *search) begin(p *Pass, at int, heavies []split.Heavy) []*seeker {
	var scanning []*seeker
	for _, k := range s.seekers {
		if k.restricted {
			continue
		}
		k.heavies = nil
		var all split.Heavy
		if i := slices.Index(p.Nodes[at].Heavies, s.heavies[k.Tree]); i >= 0 {
			k.heavies = heavies[i*s.codes(p) : (i+1)*s.codes(p)]
			for i := range s.Columns[p.From].Codes { // each object has one code of any feature
				all.Add(&k.heavies[i])
			}
		}
		if all.Weight == 0 {
			k.heavies = nil
		}
		totals := s.criteria[k.Tree].NewTotals(s.open.Objects, s.open.Weight)
		totals.Ordered = s.constraints.Monotone()
		k.scanner.Node(totals, all)
		scanning = append(scanning, k)
	}
	return scanning
}

// scan scores the tests of the features of a pass for some seekers.
func (s *search) scan(p *Pass, cells []int64, seekers []*seeker) {
	var column split.Column
	load := func(k *seeker, f int) {
		h := split.Histogram{Cells: s.layout.Column(cells, f, p.From)}
		if k.heavies != nil {
			h.Heavy = k.heavies[s.codesAt[f]-s.codesAt[p.From] : s.codesAt[f+1]-s.codesAt[p.From]]
		}
		k.scanner.Load(f, s.open.path.Column(f, s.Columns, &column), h, nil)
	}
	scores := make([][]float64, len(seekers))
	for i := range scores {
		scores[i] = make([]float64, p.To-p.From)
	}
	for _, team := range s.teams(seekers) {
		first := seekers[team[0]]
		others := make([]*split.Scanner, len(team)-1)
		for i, member := range team[1:] {
			others[i] = seekers[member].scanner
		}
		for i := range p.To - p.From {
			load(first, p.From+i)
			scores[team[0]][i] = first.scanner.ScanWith(others)
			for at, o := range others {
				scores[team[1+at]][i] = o.Best()
			}
		}
	}
	for i, k := range seekers {
		s.keep(p, k, scores[i], func(f int) { load(k, f) })
	}
}

// teams groups the seekers that can scan together, the leader first. Seekers with heavy
// objects have sums of their own, and scan alone, as do seekers whose thresholds must have ordered
// sides.
func (s *search) teams(seekers []*seeker) [][]int {
	return induce.Teams(len(seekers), func(i, j int) bool {
		a, b := seekers[i], seekers[j]
		return a.heavies == nil && b.heavies == nil && !s.constraints.Monotone() &&
			s.criteria[a.Tree].Leads(s.criteria[b.Tree])
	})
}

// keep keeps the best tests of a seeker, given the best scores of the features of a pass.
func (s *search) keep(p *Pass, k *seeker, scores []float64, load func(f int)) {
	if s.constraints.Restrict(s.open.Depth, p.From, scores) {
		k.restricted, k.best, k.found = true, math.Inf(-1), nil
		k.rivals = nil // no other feature was allowed
	}
	k.best = max(k.best, slices.Max(scores))
	if math.IsInf(k.best, -1) {
		return
	}
	if k.rivals != nil {
		k.rivals.keep(p, k.scanner, scores, load)
	}
	floor := split.Floor(k.best)
	k.found = slices.DeleteFunc(k.found, func(f found) bool { return f.Score < floor })
	for _, t := range slices.Clone(k.scanner.Tied(p.From, scores, floor, load)) {
		f := found{Candidate: t}
		load(t.Feature)
		f.parts, f.cells, f.outcomes = k.scanner.Parts(&t)
		k.found = append(k.found, f)
	}
}

// expand sets the tests and the sums of the node, and returns its children by each test that
// some tree has chosen: none of a leaf.
func (s *search) expand() []*Open {
	for _, m := range s.open.Members {
		s.describe(m.Node, s.open, s.other, s.rows)
	}
	cells := make(map[*induce.Node][][]int64, len(s.seekers))
	for _, k := range s.seekers {
		if len(k.found) == 0 {
			continue
		}
		best := 0
		for i := range k.found {
			if k.found[i].Cost < k.found[best].Cost {
				best = i
			}
		}
		f := &k.found[best]
		k.Node.Test, k.Node.Parts, k.Node.Outcomes = &f.Candidate, f.parts, f.outcomes
		k.Node.RunnerUp = k.rivals.runnerUp(f.Feature)
		cells[k.Node] = f.cells
	}
	var all []*Open
	for _, members := range byTest(s.open.Members) {
		children := s.open.children(members, cells[members[0].Node])
		if s.cells != nil {
			kin := &family{s.cells, s.other, s.rows, children}
			for _, child := range children {
				child.family = kin
			}
		}
		all = append(all, children...)
	}
	return all
}
