package tree

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Format and Version identify a tree.json. The version is ModelVersion if the tree has leaf models,
// BoosterVersion if some of these have boosters, and ThresholdVersion if a threshold decides what
// leaf models predict. A program that does not know one of these parts thus refuses the tree instead
// of predicting something else.
const (
	Format           = "espalier/tree"
	Version          = 1
	ModelVersion     = 2
	BoosterVersion   = 3
	ThresholdVersion = 4
)

// Encode returns the tree in canonical JSON: UTF-8, two-space indent, fixed key order, one line for
// each feature, each member of a node, each term of a leaf model and each split of a booster,
// floats in the shortest form that reads back as the same number, and a final newline.
func (t *Tree) Encode() []byte { return t.AppendJSON(nil) }

// AppendJSON appends the tree to dst in the form of Encode.
func (t *Tree) AppendJSON(dst []byte) []byte {
	boosters := t.boosters()
	version := Version
	switch {
	case t.Label.Thresholded() && t.Modelled():
		version = ThresholdVersion
	case len(boosters) > 0:
		version = BoosterVersion
	case t.Modelled():
		version = ModelVersion
	}
	e := newEncoder(dst, Format, version, &t.Label)
	e.list("features", len(t.Features), func(i int) {
		f := &t.Features[i]
		e.b = append(e.b, e.text(t.Texts, f.Name, func() any { return fileFeatureOf(f) })[0]...)
	})
	e.flat("algorithm", &t.Algorithm)
	e.flat("training", &t.Training)
	e.flat("complexity", &t.Complexity)
	if t.Certificate != nil {
		e.flat("certificate", t.Certificate)
	}
	numbers := make(map[*boost.Booster]int, len(boosters))
	if len(boosters) > 0 {
		e.list("boosters", len(boosters), func(i int) {
			numbers[boosters[i]] = i
			e.b = append(e.b, e.text(t.Texts, keyOf(boosters[i]), func() any { return t.fileBooster(boosters[i]) })[0]...)
		})
	}
	e.list("nodes", len(t.Nodes), func(i int) {
		n := &t.Nodes[i]
		texts := t.Texts
		if n.Model != nil {
			texts = nil // models belong to one tree
		}
		parts := e.text(texts, nodeKey{&n.Probabilities[0], n.Leaf(), n.Class}, func() any { return t.fileNode(n, numbers) })
		e.b = strconv.AppendInt(append(e.b, "{\n      \"id\": "...), int64(i), 10)
		e.b = append(e.b, parts[0][len("{\n      \"id\": 0"):]...)
		for k, part := range parts[1:] {
			e.b = append(strconv.AppendInt(append(e.b, `child": `...), int64(n.Branches[k].Child), 10), part...)
		}
	})
	return append(e.b, "\n}\n"...)
}

// Texts are encoded features, boosters and nodes, without ids, of trees that share the slices of their nodes and of their
// boosters, as prunings of a tree do: the trees of a frontier have each node four times.
type Texts struct{ sync.Map } // by name of the feature, boosterKey and nodeKey

// nodeKey identifies a node among such trees.
type nodeKey struct {
	probabilities *float64
	leaf          bool
	class         int // trees of one grown tree may decide by other thresholds
}

// boosterKey identifies a booster among such trees, whose features may have other numbers.
type boosterKey struct {
	values *float64 // where the values of the last split in the first tree begin
	trees  int      // because a booster may have the first trees of another one
}

func keyOf(b *boost.Booster) boosterKey {
	first := b.Trees[0]
	return boosterKey{&first[len(first)-1].Yes.Values[0], len(b.Trees)}
}

// encoder appends a document member by member, in the spelling of encoding/json, with spaces and lines.
type encoder struct{ b []byte }

// newEncoder begins a document with its first members.
func newEncoder(dst []byte, format string, version int, label *Label) *encoder {
	e := &encoder{b: append(dst, "{\n  \"format\": \""+format+"\",\n  \"version\": "...)}
	e.b = strconv.AppendInt(e.b, int64(version), 10)
	e.name("label")
	e.value(label, 2)
	return e
}

func (e *encoder) name(name string) { e.b = append(e.b, ",\n  \""+name+"\": "...) }

func (e *encoder) value(v any, indent int) { e.b = layOut(e.b, wire.JSON(v), indent) }

// flat appends a member on one line, with the escapes of encoding/json.
func (e *encoder) flat(name string, v any) {
	e.name(name)
	e.value(v, -1)
}

// list appends a member that is a list of n elements, each of which begins a line.
func (e *encoder) list(name string, n int, element func(i int)) {
	e.name(name)
	e.b = append(e.b, '[')
	for i := range n {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = line(e.b, 4)
		element(i)
	}
	e.b = append(e.b, "\n  ]"...)
}

// text returns the text of a feature, booster or node in parts: before all parts but the first, the id of a child is missing.
func (e *encoder) text(texts *Texts, key any, value func() any) [][]byte {
	if texts != nil {
		kept, _ := texts.Load(key)
		if parts, known := kept.([][]byte); known {
			return parts
		}
	}
	from := len(e.b)
	e.value(value(), 4)
	parts := bytes.Split(bytes.Clone(e.b[from:]), []byte(`child": 0`))
	if e.b = e.b[:from]; texts != nil {
		texts.Store(key, parts)
	}
	return parts
}

func line(dst []byte, indent int) []byte { return append(dst, "\n          "[:1+indent]...) }

// layOut appends compact JSON with spaces after colons and commas. In the given indent, unless it is negative,
// the members of nodes and the elements of lists of objects begin lines, and texts are as in appendText.
func layOut(dst, compact []byte, indent int) []byte {
	flat := indent < 0
	depth := 0
	var lines [16]bool // by depth: whether members or elements begin lines
	from := 0          // all before is appended
	for i := 0; i < len(compact); i++ {
		switch compact[i] {
		case '"':
			text := i
			escaped := false
			for i++; compact[i] != '"'; i++ {
				if compact[i] == '\\' {
					escaped = true
					i++
				}
			}
			if escaped && !flat {
				dst = appendText(append(dst, compact[from:text]...), compact[text:i+1])
				from = i + 1
			}
		case '[', '{':
			depth++
			if lines[depth] = !flat && beginsLines(compact[i:]); lines[depth] {
				indent += 2
				dst = line(append(dst, compact[from:i+1]...), indent)
				from = i + 1
			}
		case ']', '}':
			if lines[depth] {
				indent -= 2
				dst = line(append(dst, compact[from:i]...), indent)
				from = i
			}
			depth--
		case ',':
			dst = append(dst, compact[from:i+1]...)
			if from = i + 1; lines[depth] {
				dst = line(dst, indent)
			} else {
				dst = append(dst, ' ')
			}
		case ':':
			dst = append(append(dst, compact[from:i+1]...), ' ')
			from = i + 1
		}
	}
	return append(dst, compact[from:]...)
}

// beginsLines reports whether JSON begins with a node, or with a list of objects or of such lists.
func beginsLines(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"id":`)) || b[0] == '[' && bytes.TrimLeft(b, "[")[0] == '{'
}

// appendText appends a text of encoding/json. In printable ASCII, only quotes and backslashes need escapes:
// there <, > and & have none.
func appendText(dst, text []byte) []byte {
	if bytes.Contains(text, []byte(`\u00`)) {
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
		if !strings.ContainsFunc(plain, func(r rune) bool { return r == '\\' || r >= 0x7f }) {
			return append(dst, plain...)
		}
	}
	return append(dst, text...)
}

// fileFeatureOf returns a feature in the form of tree.json and schema.json.
func fileFeatureOf(f *dataset.Feature) *fileFeature {
	m := &fileFeature{Name: f.Name, Type: f.Kind.String(), Missing: f.Missing, Cost: f.Cost, Group: f.Group}
	if f.Unordered {
		m.Absent = AbsentUnordered
	}
	if f.Unit != dataset.Plain {
		m.Unit = f.Unit.String()
	}
	if f.Zone != dataset.NoZone {
		m.Zone = f.Zone.String()
	}
	if f.Kind == dataset.Numeric {
		m.Cuts = append([]float64{}, f.Cuts...)
		m.Range = f.Range
	} else {
		m.Values = append([]string{}, f.Values...)
		m.Other = f.Other
		m.Ordered = f.Ordered
	}
	if f.Group != "" {
		m.GroupCost = &f.GroupCost
	}
	m.FurtherCosts = f.FurtherCosts
	m.GroupFurther = f.GroupFurther
	return m
}

// writtenNode is a fileNode with its last members, which leaves do not have.
type writtenNode struct {
	fileNode

	Test     *fileTest    `json:"test,omitempty"`
	Branches []fileBranch `json:"branches,omitempty"`
}

// fileNode returns a node in the form of the file, without ids. numbers holds the numbers of the boosters.
func (t *Tree) fileNode(n *Node, numbers map[*boost.Booster]int) *writtenNode {
	f := &writtenNode{fileNode: fileNode{
		Rows: n.Rows, Objects: n.Objects, Weight: n.Weight, ClassWeights: n.ClassWeights,
		RawClassWeights: n.RawClassWeights, Class: t.Label.Classes[n.Class], Probabilities: n.Probabilities,
	}}
	if t.Algorithm.Classes == ClassesOfRows && !t.Dated {
		f.ClassWeights = n.RawClassWeights
		if !slices.Equal(n.ClassWeights, n.RawClassWeights) {
			f.MajorityWeights = n.ClassWeights
		}
	}
	if n.Leaf() {
		if n.Model != nil {
			f.Model = t.fileModel(n.Model, numbers)
		}
		return f
	}
	feature := &t.Features[n.Test.Feature]
	f.Test = &fileTest{
		Feature: feature.Name, Kind: n.Test.Kind.String(), Cost: n.Test.Cost, Billed: n.Test.Billed, Score: n.Test.Score,
		Trust: n.Test.Trust,
	}
	if r := n.Test.RunnerUp; r != nil {
		f.Test.RunnerUp = &fileRunnerUp{r.Feature, r.Kind.String(), r.when(), r.Cost, r.Total}
	}
	f.Branches = make([]fileBranch, len(n.Branches))
	yes := NewRunnerUp(feature, &n.Test.Test, 0, 0).when()
	for i, b := range n.Branches {
		f.Branches[i] = fileBranch{When: yes.of(feature, n.Test.Kind, b.Outcome), Missing: b.Missing, Other: b.Other}
	}
	return f
}

// when returns the condition of the yes branch; empty for a multiway test.
func (r *RunnerUp) when() fileWhen {
	w := fileWhen{GE: r.GE, LT: r.LT, Other: r.Kind == split.Other, Missing: r.Kind == split.Missing}
	switch r.Kind {
	case split.Bin: // without a bound it covers all numbers
		w.NotMissing = r.GE == nil && r.LT == nil
	case split.Equals:
		w.In = []string{r.Value}
	case split.In:
		w.In = r.Values
	default:
	}
	return w
}

// of returns the condition of an outcome in terms of the values of the feature, given the condition of the yes branch.
func (w *fileWhen) of(f *dataset.Feature, kind split.Kind, outcome int) fileWhen {
	switch {
	case kind == split.Multiway && outcome == f.MissingCode():
		return fileWhen{Missing: true}
	case kind == split.Multiway && outcome == f.OtherCode():
		return fileWhen{Other: true}
	case kind == split.Multiway:
		return fileWhen{In: f.Values[outcome : outcome+1]}
	case outcome != 0:
		return *w
	case kind == split.Threshold:
		return fileWhen{LT: w.GE}
	default:
		return fileWhen{
			NotIn: w.In, NotGE: w.GE, NotLT: w.LT, NotOther: w.Other, NotMissing: w.Missing, Missing: w.NotMissing,
		}
	}
}
