package comparison

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Flips are the rows whose predicted class differs between the trees. Classes are compared by their
// names.
type Flips struct {
	Rows   int64   `json:"rows" jsonschema:"minimum=0"`
	Weight int64   `json:"weight" jsonschema:"minimum=0"`          // fixed point
	Share  float64 `json:"share" jsonschema:"minimum=0,maximum=1"` // share of the weight of all rows

	// BecameRight is the number of rows that only B predicts correctly; absent without labels.
	BecameRight *int64 `json:"became_right,omitempty" jsonschema:"minimum=0"`
	// BecameWrong is the number of rows that only A predicts correctly; absent without labels.
	BecameWrong *int64 `json:"became_wrong,omitempty" jsonschema:"minimum=0"`
	// PValue is the probability of a split at least this uneven if both trees were correct equally often: McNemar's
	// test, exact and two-sided. Absent without labels, and for rows in groups.
	PValue *float64 `json:"mcnemar_p,omitempty" jsonschema:"minimum=0,maximum=1"`

	ByClasses []Flip `json:"list"` // by descending weight
}

// Flip holds the rows that A predicts as one class and B as another.
type Flip struct {
	From   string  `json:"from"` // class by A
	To     string  `json:"to"`   // class by B
	Rows   int64   `json:"rows" jsonschema:"minimum=1"`
	Weight int64   `json:"weight" jsonschema:"minimum=0"`
	Share  float64 `json:"share" jsonschema:"minimum=0,maximum=1"`

	BecameRight *int64 `json:"became_right,omitempty" jsonschema:"minimum=0"` // rows
	BecameWrong *int64 `json:"became_wrong,omitempty" jsonschema:"minimum=0"` // rows
}

// NewFlips finds the flips among rows.
func NewFlips(a, b *tree.Tree, list []Rows, labelled bool) *Flips {
	f := &Flips{ByClasses: []Flip{}}
	total := int64(0)
	if labelled {
		f.BecameRight = new(int64)
		f.BecameWrong = new(int64)
	}
	at := make(map[[2]int]int)
	for i := range list {
		r := &list[i]
		weight := portable.Sum(r.Weights)
		total += weight
		from := a.Label.Classes[r.A.Class]
		to := b.Label.Classes[r.B.Class]
		if from == to {
			continue
		}
		key := [2]int{r.A.Class, r.B.Class}
		if _, ok := at[key]; !ok {
			at[key] = len(f.ByClasses)
			f.ByClasses = append(f.ByClasses, Flip{From: from, To: to})
			if labelled {
				f.ByClasses[at[key]].BecameRight = new(int64)
				f.ByClasses[at[key]].BecameWrong = new(int64)
			}
		}
		f.add(&f.ByClasses[at[key]], r, weight)
	}
	for i := range f.ByClasses {
		f.ByClasses[i].Share = share(f.ByClasses[i].Weight, total)
	}
	f.Share = share(f.Weight, total)
	slices.SortFunc(f.ByClasses, func(x, y Flip) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	if labelled {
		p := McNemar(*f.BecameRight, *f.BecameWrong)
		f.PValue = &p
	}
	return f
}

// add adds rows to a flip and to the sums.
func (f *Flips) add(one *Flip, r *Rows, weight int64) {
	f.Rows += r.Rows
	f.Weight += weight
	one.Rows += r.Rows
	one.Weight += weight
	if f.BecameRight == nil {
		return
	}
	right := r.ByClass[r.B.Known]
	wrong := r.ByClass[r.A.Known]
	*f.BecameRight += right
	*f.BecameWrong += wrong
	*one.BecameRight += right
	*one.BecameWrong += wrong
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// McNemar returns the probability that, in a+b tosses of a coin, the number of heads is at most
// min(a, b) or at least max(a, b): McNemar's exact test, two-sided. It is 1 for equal numbers.
func McNemar(a, b int64) float64 {
	few := min(a, b)
	n := a + b
	if a == b {
		return 1
	}
	// The probability of exactly few heads is n!/(few! (n-few)!) / 2^n. The product keeps its
	// exponent separately, because 2^-n alone may underflow to 0.
	p, exponent := math.Frexp(1)
	for i := int64(1); i <= few; i++ {
		more := 0
		p, more = math.Frexp(p * (float64(n-few+i) / float64(i)))
		exponent += more
	}
	p = math.Ldexp(p, exponent-int(n))
	sum := 1.0
	term := 1.0
	for i := few; i > 0 && term > 1e-18*sum; i-- { // fewer heads, by the ratio to one more
		term = float64(term * (float64(i) / float64(n-i+1)))
		sum += term
	}
	return min(1, 2*float64(p*sum))
}

// Leaf is a leaf with its rows.
type Leaf struct {
	Leaf   int     `json:"leaf" jsonschema:"minimum=0"` // id of its node
	Rows   int64   `json:"rows" jsonschema:"minimum=0"`
	Weight int64   `json:"weight" jsonschema:"minimum=0"`
	Share  float64 `json:"share" jsonschema:"minimum=0,maximum=1"`
}

// Leaves returns the leaves of both trees, in the order of their nodes.
func Leaves(a, b *tree.Tree, list []Rows) (ofA, ofB []Leaf) {
	var counts [2][]Leaf
	for side, t := range []*tree.Tree{a, b} {
		counts[side] = make([]Leaf, len(t.Nodes))
	}
	total := int64(0)
	for i := range list {
		weight := portable.Sum(list[i].Weights)
		total += weight
		for side, leaf := range []int{list[i].A.Leaf, list[i].B.Leaf} {
			counts[side][leaf].Rows += list[i].Rows
			counts[side][leaf].Weight += weight
		}
	}
	var lists [2][]Leaf
	for side, t := range []*tree.Tree{a, b} {
		for node := range t.Nodes {
			if t.Nodes[node].Leaf() {
				one := counts[side][node]
				one.Leaf, one.Share = node, share(one.Weight, total)
				lists[side] = append(lists[side], one)
			}
		}
	}
	return lists[0], lists[1]
}

// Predicted holds the shares of the rows for which each tree predicts a class.
type Predicted struct {
	Class string  `json:"class"`
	A     float64 `json:"a" jsonschema:"minimum=0,maximum=1"`
	B     float64 `json:"b" jsonschema:"minimum=0,maximum=1"`
}

// PredictedClasses returns A's classes in their order, then further classes of B.
func PredictedClasses(a, b *tree.Tree, list []Rows) []Predicted {
	names := append(slices.Clone(a.Label.Classes), Missing(b, a)...)
	weights := make([][2]int64, len(names))
	total := int64(0)
	for i := range list {
		weight := portable.Sum(list[i].Weights)
		total += weight
		weights[list[i].A.Class][0] += weight
		weights[slices.Index(names, b.Label.Classes[list[i].B.Class])][1] += weight
	}
	classes := make([]Predicted, len(names))
	for k, name := range names {
		classes[k] = Predicted{name, share(weights[k][0], total), share(weights[k][1], total)}
	}
	return classes
}

// ErrorCosts returns what mistakes cost, by actual, then by predicted class, in A's order of classes: the costs of B,
// which is newer, or the costs of A if B has none; nil if neither tree has costs. The trees have the same classes.
func ErrorCosts(a, b *tree.Tree) [][]float64 {
	if b.Label.ErrorCosts == nil {
		return a.Label.ErrorCosts
	}
	costs := make([][]float64, len(a.Label.Classes))
	for i, actual := range a.Label.Classes {
		for _, predicted := range a.Label.Classes {
			costs[i] = append(costs[i],
				b.Label.ErrorCosts[slices.Index(b.Label.Classes, actual)][slices.Index(b.Label.Classes, predicted)])
		}
	}
	return costs
}
