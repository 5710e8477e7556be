package tree

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Format and Version identify a tree.json. The version is ModelVersion if the tree has leaf models,
// and BoosterVersion if some of these have boosters.
const (
	Format         = "espalier/tree"
	Version        = 1
	ModelVersion   = 2
	BoosterVersion = 3
)

// Encode returns the tree in canonical JSON: UTF-8, two-space indent, fixed key order, one line for
// each feature, each member of a node, each term of a leaf model and each split of a booster,
// floats in the shortest form that reads back as the same number, and a final newline.
func (t *Tree) Encode() []byte { return t.AppendJSON(nil) }

// AppendJSON appends the tree to dst in the form of Encode.
func (t *Tree) AppendJSON(dst []byte) []byte {
	dst = slices.Grow(dst, t.jsonSize())
	boosters := t.boosters()
	e := &encoder{b: dst, numbers: make(map[*boost.Booster]int, len(boosters))}
	for i, b := range boosters {
		e.numbers[b] = i
	}
	version := int64(Version)
	switch {
	case len(boosters) > 0:
		version = BoosterVersion
	case t.Modelled():
		version = ModelVersion
	}
	e.raw("{\n  \"format\": ").text(Format).raw(",\n  \"version\": ").int(version)
	e.raw(",\n  \"label\": ").label(&t.Label)
	e.raw(",\n  \"features\": [")
	for i := range t.Features {
		e.comma(i).raw("\n    ").feature(&t.Features[i])
	}
	e.raw("\n  ],\n  \"algorithm\": ").value(t.Algorithm)
	e.raw(",\n  \"training\": ").value(t.Training)
	e.raw(",\n  \"complexity\": ").value(struct {
		Complexity
		BilledNames
	}{t.Complexity, t.BilledNames()})
	if t.Certificate != nil {
		e.raw(",\n  \"certificate\": ").value(t.Certificate)
	}
	if len(boosters) > 0 {
		e.boosters(t, boosters)
	}
	e.raw(",\n  \"nodes\": [")
	for i := range t.Nodes {
		e.comma(i).raw("\n    ").node(t, i)
	}
	e.raw("\n  ]\n}\n")
	return e.b
}

// jsonSize estimates the size of the tree in JSON, in bytes.
func (t *Tree) jsonSize() int {
	const number = 7 // bytes; most numbers take no more
	size := (400+24*len(t.Label.Classes))*len(t.Nodes) + 256*len(t.Features)
	for i := range t.Nodes {
		if m := t.Nodes[i].Model; m != nil {
			for k := range m.Terms {
				size += 100 + number*(len(m.Terms[k].At)+1)*(2+len(m.Intercept))
			}
		}
	}
	return size
}

// encoder appends JSON. Its methods return the encoder, so calls can be chained in the
// order of the output.
type encoder struct {
	b       []byte
	numbers map[*boost.Booster]int // by booster: its number
}

func (e *encoder) raw(s string) *encoder {
	e.b = append(e.b, s...)
	return e
}

func (e *encoder) comma(i int) *encoder {
	if i > 0 {
		e.b = append(e.b, ',')
	}
	return e
}

func (e *encoder) int(x int64) *encoder {
	e.b = strconv.AppendInt(e.b, x, 10)
	return e
}

// float writes the shortest decimal that reads back as x, without an exponent
// between 1e-6 and 1e21, as JavaScript and encoding/json do.
func (e *encoder) float(x float64) *encoder {
	if x == 0 && !math.Signbit(x) { // scores of rare classes are mostly 0
		return e.raw("0")
	}
	a := math.Abs(x)
	if a > 0 && a < 1e12 {
		n := int64(math.Copysign(float64(a*1000)+0.5, x))
		if float64(n)/1000 == x { // decimals of up to 15 digits are distinct numbers
			e.b = appendThousandths(e.b, n)
			return e
		}
	}
	if a == 0 || a >= 1e-6 && a < 1e21 {
		e.b = strconv.AppendFloat(e.b, x, 'f', -1, 64)
		return e
	}
	e.b = strconv.AppendFloat(e.b, x, 'e', -1, 64)
	if n := len(e.b); e.b[n-4] == 'e' && e.b[n-2] == '0' { // e-07 is written as e-7
		e.b[n-2] = e.b[n-1]
		e.b = e.b[:n-1]
	}
	return e
}

// appendThousandths appends the shortest decimal of n/1000.
func appendThousandths(b []byte, n int64) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/1000, 10)
	rest := n % 1000
	if rest == 0 {
		return b
	}
	b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

func (e *encoder) text(s string) *encoder {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return e.value(s)
		}
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, s...)
	e.b = append(e.b, '"')
	return e
}

func (e *encoder) texts(list []string) {
	e.raw("[")
	for i, s := range list {
		e.comma(i).space(i).text(s)
	}
	e.raw("]")
}

func (e *encoder) space(i int) *encoder {
	if i > 0 {
		e.b = append(e.b, ' ')
	}
	return e
}

func (e *encoder) ints(list []int64) {
	e.raw("[")
	for i, x := range list {
		e.comma(i).space(i).int(x)
	}
	e.raw("]")
}

func (e *encoder) floats(list []float64) {
	e.raw("[")
	for i, x := range list {
		e.comma(i).space(i).float(x)
	}
	e.raw("]")
}

// value writes texts with escapes and flat structs as encoding/json does, but with spaces after
// separators.
func (e *encoder) value(v any) *encoder {
	b, err := json.Marshal(v)
	if err != nil { // cannot happen: the values are texts, numbers and booleans
		panic(err)
	}
	if b[0] != '{' {
		e.b = append(e.b, b...)
		return e
	}
	quoted, escaped := false, false
	for _, c := range b {
		if c == '"' && !escaped {
			quoted = !quoted
		}
		escaped = c == '\\' && !escaped
		e.b = append(e.b, c)
		if !quoted && (c == ':' || c == ',') {
			e.b = append(e.b, ' ')
		}
	}
	return e
}

func (e *encoder) label(l *Label) {
	e.raw(`{"column": `).text(l.Column).raw(`, "classes": `).texts(l.Classes)
	if l.Priors != nil {
		e.raw(`, "priors": `).floats(l.Priors)
	}
	if l.ErrorCosts != nil {
		e.raw(`, "error_costs": [`)
		for i, row := range l.ErrorCosts {
			e.comma(i).space(i).floats(row)
		}
		e.raw("]")
	}
	e.raw("}")
}

func (e *encoder) feature(f *dataset.Feature) {
	e.raw(`{"name": `).text(f.Name).raw(", ").members(f)
	e.raw("}")
}

// members writes the members of a feature that follow its name, for tree.json and schema.json.
func (e *encoder) members(f *dataset.Feature) {
	e.raw(`"type": `).text(f.Kind.String())
	if f.Unit != dataset.Plain {
		e.raw(`, "unit": `).text(f.Unit.String())
	}
	if f.Zone != dataset.NoZone {
		e.raw(`, "zone": `).text(f.Zone.String())
	}
	if f.Kind == dataset.Numeric {
		e.raw(`, "cuts": `).floats(f.Cuts)
		if len(f.Range) > 0 {
			e.raw(`, "range": `).floats(f.Range)
		}
	} else {
		e.raw(`, "values": `).texts(f.Values)
		if f.Other > 0 {
			e.raw(`, "other": `).int(f.Other)
		}
	}
	e.raw(`, "missing": `).int(f.Missing).raw(`, "cost": `).float(f.Cost)
	if f.Group != "" {
		e.raw(`, "group": `).text(f.Group).raw(`, "group_cost": `).float(f.GroupCost)
	}
}

func (e *encoder) node(t *Tree, id int) {
	n := &t.Nodes[id]
	const line = ",\n      "
	e.raw("{\n      \"id\": ").int(int64(id))
	e.raw(line + `"rows": `).int(n.Rows)
	e.raw(line + `"objects": `).int(n.Objects)
	e.raw(line + `"weight": `).int(n.Weight)
	if t.Algorithm.Classes != ClassesOfRows || t.Dated {
		e.raw(line + `"class_weights": `).ints(n.ClassWeights)
	} else {
		e.raw(line + `"class_weights": `).ints(n.RawClassWeights)
		if !slices.Equal(n.ClassWeights, n.RawClassWeights) {
			e.raw(line + `"majority_class_weights": `).ints(n.ClassWeights)
		}
	}
	e.raw(line + `"raw_class_weights": `).ints(n.RawClassWeights)
	e.raw(line + `"class": `).text(t.Label.Classes[n.Class])
	e.raw(line + `"probabilities": `).floats(n.Probabilities)
	if n.Leaf() && n.Model != nil {
		e.raw(line+`"model": `).model(t, n.Model)
	}
	if !n.Leaf() {
		f := &t.Features[n.Test.Feature]
		e.raw(line + `"test": {"feature": `).text(f.Name).raw(`, "kind": `).text(n.Test.Kind.String())
		e.raw(`, "cost": `).float(n.Test.Cost)
		if n.Test.Billed != nil {
			e.raw(`, "billed": `).float(*n.Test.Billed)
		}
		p := &n.Test.Score
		e.raw(`, "score": {"balance": `).float(p.Balance).raw(`, "efficiency": `).float(p.Efficiency)
		e.raw(`, "discrimination": `).float(p.Discrimination).raw(`, "total": `).float(p.Total).raw("}")
		if r := n.Test.RunnerUp; r != nil {
			e.raw(`, "runner_up": `).runnerUp(r)
		}
		e.raw("}")
		e.raw(line + `"branches": [`)
		for i, b := range n.Branches {
			e.comma(i).raw("\n        ").branch(f, n.Test, &b)
		}
		e.raw("\n      ]")
	}
	e.raw("\n    }")
}

// runnerUp writes the second best feature of a node, and the condition of its yes branch.
func (e *encoder) runnerUp(r *RunnerUp) {
	e.raw(`{"feature": `).text(r.Feature).raw(`, "kind": `).text(r.Kind.String())
	switch {
	case r.GE != nil && r.LT != nil:
		e.raw(`, "when": {`).bound("ge", *r.GE).raw(", ").bound("lt", *r.LT).raw("}")
	case r.GE != nil:
		e.raw(`, "when": {`).bound("ge", *r.GE).raw("}")
	case r.LT != nil:
		e.raw(`, "when": {`).bound("lt", *r.LT).raw("}")
	case r.Kind == split.Bin:
		e.raw(`, "when": {"not_missing": true}`)
	case r.Kind == split.Equals:
		e.raw(`, "when": {"in": [`).text(r.Value).raw("]}")
	case r.Kind != split.Multiway:
		e.raw(`, "when": {"` + r.Kind.String() + `": true}`)
	}
	e.raw(`, "cost": `).float(r.Cost).raw(`, "total": `).float(r.Total).raw("}")
}

func (e *encoder) branch(f *dataset.Feature, t *Test, b *Branch) {
	e.raw(`{"when": {`).when(f, t, b.Outcome).raw(`}, "child": `).int(int64(b.Child))
	if b.Missing {
		e.raw(`, "missing": true`)
	}
	if b.Other {
		e.raw(`, "other": true`)
	}
	e.raw("}")
}

// when writes the condition of an outcome in terms of the values of the feature.
func (e *encoder) when(f *dataset.Feature, t *Test, outcome int) *encoder {
	not := ""
	if outcome == 0 {
		not = "not_"
	}
	switch t.Kind {
	case split.Threshold:
		key := "ge"
		if outcome == 0 {
			key = "lt"
		}
		return e.bound(key, f.Cuts[t.Code-1])
	case split.Bin:
		if t.Span == len(f.Cuts) { // the bin covers all numbers
			return e.raw(`"` + flip(not) + `missing": true`)
		}
		if t.Code > 0 {
			e.bound(not+"ge", f.Cuts[t.Code-1])
			if t.Code+t.Span < len(f.Cuts) {
				e.raw(", ")
			}
		}
		if t.Code+t.Span < len(f.Cuts) {
			e.bound(not+"lt", f.Cuts[t.Code+t.Span])
		}
		return e
	case split.Equals:
		return e.raw(`"` + not + `in": [`).text(f.Values[t.Code]).raw("]")
	case split.Other, split.Missing:
		return e.raw(`"` + not + t.Kind.String() + `": true`)
	default:
		return e.multiwayWhen(f, outcome)
	}
}

func flip(not string) string {
	if not == "" {
		return "not_"
	}
	return ""
}

func (e *encoder) bound(key string, cut float64) *encoder {
	return e.raw(`"` + key + `": `).float(cut)
}

func (e *encoder) multiwayWhen(f *dataset.Feature, code int) *encoder {
	switch code {
	case f.MissingCode():
		return e.raw(`"missing": true`)
	case f.OtherCode():
		return e.raw(`"other": true`)
	default:
		return e.raw(`"in": [`).text(f.Values[code]).raw("]")
	}
}
