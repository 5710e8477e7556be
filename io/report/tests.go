package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// tests lists the features and the tests of all trees on the page, each once.
type tests struct {
	features []feature
	byName   map[string]int
	size     int // bytes of the tests as they are written
	list     []string
	known    map[question]int
	used     map[answer]bool // categories that some test or model asks for
}

// question identifies a test: two trees that ask the same have one entry.
type question struct {
	feature  int
	kind     split.Kind
	low, top float64 // numeric: outcome 1 is [low, top)
	code     int     // categorical
	price    float64
	branches string // the codes of a multiway test, or the set of a test for a set
	presence bool
}

// answer is a category of a feature.
type answer struct{ feature, code int }

func newTests() *tests {
	return &tests{byName: make(map[string]int), known: make(map[question]int), used: make(map[answer]bool)}
}

// mark is a state of the tests, to go back to.
func (t *tests) mark() int { return len(t.list) }

// back forgets the tests since a mark. Their features and categories stay: they are few.
func (t *tests) back(to int) {
	for q, at := range t.known {
		if at >= to {
			delete(t.known, q)
		}
	}
	for _, text := range t.list[to:] {
		t.size -= len(text) + 1
	}
	t.list = t.list[:to]
}

// feature returns the number of a feature on the page.
func (t *tests) feature(f *dataset.Feature) int {
	if at, ok := t.byName[f.Name]; ok {
		return at
	}
	t.byName[f.Name] = len(t.features)
	t.features = append(t.features, feature{f, textview.Name(f.Name)})
	return len(t.features) - 1
}

// add returns the number of a node's test.
func (t *tests) add(of *tree.Tree, n *tree.Node) int {
	f := &of.Features[n.Test.Feature]
	q := question{feature: t.feature(f), kind: n.Test.Kind, price: n.Test.Cost, presence: of.Presence(n)}
	switch {
	case n.Test.Kind == split.Multiway:
		q.branches = codes(n)
	case n.Test.Kind == split.In:
		q.branches = string(n.Test.Set)
	case f.Kind == dataset.Categorical || n.Test.Kind == split.Missing:
		q.code = n.Test.Code
	default:
		q.low, q.top = bounds(f, n.Test)
	}
	if at, ok := t.known[q]; ok {
		return at
	}
	at := len(t.list)
	t.known[q] = at
	text := string(t.append(nil, of, n, &q))
	t.list = append(t.list, text)
	t.size = t.size + len(text) + 1
	return at
}

// codes lists the codes of the branches of a multiway test, which identifies it.
func codes(n *tree.Node) string {
	var b []byte
	for k := range n.Branches {
		branch := &n.Branches[k]
		b = strconv.AppendInt(b, int64(branch.Outcome), 10)
		b = strconv.AppendBool(b, branch.Other)
		b = strconv.AppendBool(b, branch.Missing)
	}
	return string(b)
}

// bounds returns the numbers of outcome 1: at least low and below top.
func bounds(f *dataset.Feature, t *tree.Test) (low, top float64) {
	low, top = math.Inf(-1), math.Inf(1)
	if t.Kind == split.Threshold {
		return f.Cuts[t.Code-1], top
	}
	if t.Code > 0 {
		low = f.Cuts[t.Code-1]
	}
	if end := t.Code + t.Span; end < len(f.Cuts) {
		top = f.Cuts[end]
	}
	return low, top
}

// append writes a test:
//
//	threshold  [feature, price, "t", cut, "cut for reading"]
//	bin        [feature, price, "b", low or null, top or null, "yes", "no"]
//	missing    [feature, price, "m", "yes", "no"]
//	presence   [feature, 0, "p", "yes", "no"]: see tree.Presence
//	category   [feature, price, "e", code, "yes", "no"]
//	set        [feature, price, "s", "codes", branch of others, "yes", "no"]
//	multiway   [feature, price, "w", [codes], branch of others, of missing values, "texts"...]
//
// The codes of a set are hexadecimal digits: bit code%4 of digit code/4. Texts lack the name of the feature in front of them, which nearly all have.
func (t *tests) append(b []byte, of *tree.Tree, n *tree.Node, q *question) []byte {
	f := &of.Features[n.Test.Feature]
	b = append(b, '[')
	b = append(strconv.AppendInt(b, int64(q.feature), 10), ',')
	b = appendFloat(b, n.Test.Cost)
	switch {
	case n.Test.Kind == split.Multiway:
		b = t.appendMultiway(b, n, q.feature)
	case q.presence:
		b = append(b, `,"p"`...)
	case n.Test.Kind == split.Missing:
		b = append(b, `,"m"`...)
	case n.Test.Kind == split.In:
		b = t.appendSet(b, f, n.Test, q.feature)
	case f.Kind == dataset.Categorical:
		t.used[answer{q.feature, n.Test.Code}] = true
		b = append(b, `,"e",`...)
		b = strconv.AppendInt(b, int64(n.Test.Code), 10)
	case n.Test.Kind == split.Threshold:
		b = append(b, `,"t",`...)
		b = append(appendFloat(b, q.low), ',')
		return append(appendText(b, textview.Shortened(f, q.low)), ']')
	default:
		b = append(b, `,"b",`...)
		b = append(appendFloat(b, q.low), ',')
		b = appendFloat(b, q.top)
	}
	name := t.features[q.feature].name + " "
	for k := range n.Branches {
		b = append(b, ',')
		b = appendText(b, strings.TrimPrefix(textview.Condition(of, n, &n.Branches[k]), name))
	}
	return append(b, ']')
}

// appendSet writes the codes of a set and the branch of other codes. Values that take it in all tests need not be on the
// page.
func (t *tests) appendSet(b []byte, f *dataset.Feature, test *tree.Test, feature int) []byte {
	b = append(b, `,"s","`...)
	other := test.Set.Has(f.OtherCode())
	for from := 0; from < f.MissingCode(); from += 4 {
		digit := 0
		for k := range 4 {
			in := test.Set.Has(from + k)
			if in {
				digit |= 1 << k
			}
			if in != other {
				t.used[answer{feature, from + k}] = true
			}
		}
		b = append(b, "0123456789abcdef"[digit])
	}
	if other {
		return append(b, `",0`...)
	}
	return append(b, `",1`...)
}

// appendMultiway writes the codes of a multiway test and the branches of other codes.
func (t *tests) appendMultiway(b []byte, n *tree.Node, feature int) []byte {
	b = append(b, `,"w",[`...)
	for k := range n.Branches {
		if k > 0 {
			b = append(b, ',')
		}
		t.used[answer{feature, n.Branches[k].Outcome}] = true
		b = strconv.AppendInt(b, int64(n.Branches[k].Outcome), 10)
	}
	b = append(b, "],"...)
	other := slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Other })
	missing := slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Missing })
	b = append(strconv.AppendInt(b, int64(other), 10), ',')
	return strconv.AppendInt(b, int64(missing), 10)
}
