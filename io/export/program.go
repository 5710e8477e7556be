package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// program is the data of the templates for a tree in a language.
type program struct {
	language *language
	tree     *tree.Tree
	calls    map[int]int // by node: the number of the function that holds its subtree

	Name     string
	Package  string // package of a Java class
	Module   string // name by which other code imports it
	Options  Options
	With     With
	Label    tree.Label
	Features []feature
	Sets     [][]string // sets of values that tests ask for, each in the order of its bytes
	Walk     []function
	Leaves   []leaf
	Models   []model
	Boosters []booster
	Steps    []step    // by node, for paths; nil without paths
	Factors  []float64 // factors of the probabilities of leaf models, see tree.Adapter; nil without priors
}

// feature is a feature that some test or leaf model uses.
type feature struct {
	Index   int // index in the features of the program
	Name    string
	Ident   string // as a field of a row
	Const   string // as a constant for the index
	Numeric bool
	Unit    string   // date, time, timestamp, or empty
	Local   bool     // whether its timestamps are local
	Values  []string // values of a categorical feature
}

// function holds a part of the tree as nested conditions.
type function struct {
	Number int
	Nodes  int // number of nodes in the part
	Calls  []int
	Lines  []string
}

// leaf is a leaf of the tree, in the order of the nodes.
type leaf struct {
	Index         int // index in the leaves
	Node          int
	Class         int
	Tests         int
	Cost          float64 // billed cost
	Probabilities []float64
	Model         int // index in the models; -1 if absent
}

// model is a leaf model.
type model struct {
	Index     int
	Intercept []float64
	Terms     []tree.Term
	Booster   int // index in the boosters; -1 if absent
}

// booster is a list of trees, each a list of splits.
type booster struct {
	Index int
	Trees [][]boosterSplit
}

// boosterSplit sends a row to a side, depending on whether a number is at least Cut, or whether a
// text is in a set.
type boosterSplit struct {
	Feature int
	Cut     float64
	Set     int  // index in the sets; -1 for a number
	Missing bool // whether rows without a value go to Yes
	Yes, No boost.Side
}

func newProgram(t *tree.Tree, l *language, o Options) (*program, error) {
	t = t.Tested() // features that the tree does not test do not belong into the file
	p := &program{language: l, tree: t, Options: o, With: o.With, Label: t.Label, calls: make(map[int]int)}
	if t.Label.Thresholded() {
		p.Label.ErrorCosts = nil // they do not decide
	}
	if err := p.setNames(o); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.addFeatures()
	p.addLeaves()
	p.cut()
	if t.Modelled() {
		p.Factors = t.PriorFactors()
	}
	if o.With.Path {
		p.addSteps()
	}
	return p, nil
}

// step is a node on paths: its parent, and the condition of the branch from there.
type step struct {
	Node, Above int
	Condition   string
}

func (p *program) addSteps() {
	p.Steps = make([]step, len(p.tree.Nodes))
	conditions := textview.Conditions(p.tree)
	p.Steps[0].Above = -1
	for id := range p.tree.Nodes {
		for _, b := range p.tree.Nodes[id].Branches {
			p.Steps[b.Child] = step{b.Child, id, conditions[b.Child]}
		}
	}
}

// path returns the conditions on the way to a node.
func (p *program) path(node int) []string {
	var list []string
	for ; len(p.Steps) > 0 && node > 0; node = p.Steps[node].Above {
		list = append(list, p.Steps[node].Condition)
	}
	slices.Reverse(list)
	return list
}

// setNames sets the name of the package, class or functions, and the name by which other code
// imports them.
func (p *program) setNames(o Options) error {
	l := p.language
	base := strings.TrimSuffix(o.File, p.language.ending)
	p.Name = o.Name
	if p.Name == "" {
		p.Name = l.name
		if l.packages && base != o.File && isIdentifier(base) {
			p.Name = base
		}
	}
	for name := range strings.SplitSeq(p.Name, ".") {
		if !isIdentifier(name) || slices.Contains(l.keywords, name) || name != p.Name && !l.packages {
			return fmt.Errorf("--name %q: want a name of letters, digits and underscores that is no word of the language",
				p.Name)
		}
	}
	if dot := strings.LastIndexByte(p.Name, '.'); dot >= 0 {
		p.Package = p.Name[:dot]
		p.Name = p.Name[dot+1:]
	}
	if l.packages && base != o.File && base != p.Name {
		return fmt.Errorf("--name %s: a class %s is in a file %s%s, not in %s", o.Name, p.Name, p.Name, l.ending, o.File)
	}
	p.Module = l.module(o)
	return nil
}

// module returns the name by which other code imports the file.
func (l *language) module(o Options) string {
	file := o.File
	if !strings.HasSuffix(file, l.ending) && (l.format != "javascript" || !strings.HasSuffix(file, ".js")) {
		file = l.name + l.ending
	}
	switch l.format {
	case "python":
		return strings.TrimSuffix(file, l.ending)
	case "javascript":
		return "./" + file
	default:
		return file
	}
}

// check returns an error if the language cannot represent some text.
func (p *program) check() error {
	if !p.language.terminated {
		return nil
	}
	for _, f := range p.tree.Features {
		for _, text := range append([]string{f.Name}, f.Values...) {
			if strings.ContainsRune(text, 0) {
				return fmt.Errorf("feature %q: the text %q has a NUL, which ends texts of this language", f.Name, text)
			}
		}
	}
	for _, class := range p.Label.Classes {
		if strings.ContainsRune(class, 0) {
			return fmt.Errorf("the class %q has a NUL, which ends texts of this language", class)
		}
	}
	return nil
}

func (p *program) addFeatures() {
	fields := newNames(p.language.keywords)
	constants := newNames(p.language.keywords)
	for i := range p.tree.Features {
		f := &p.tree.Features[i]
		p.Features = append(p.Features, feature{
			Index: i, Name: f.Name, Ident: fields.take(p.language.field(words(f.Name))),
			Const:   constants.take(p.language.constant(words(f.Name))),
			Numeric: f.Kind == dataset.Numeric, Unit: f.Unit.String(), Local: f.Zone == dataset.Local, Values: f.Values,
		})
	}
}

// set returns the number of a set of values, which it adds unless the program has it.
func (p *program) set(values []string) int {
	values = slices.Sorted(slices.Values(values))
	at := slices.IndexFunc(p.Sets, func(s []string) bool { return slices.Equal(s, values) })
	if at < 0 {
		at = len(p.Sets)
		p.Sets = append(p.Sets, values)
	}
	return at
}

func (p *program) addLeaves() {
	tests, cost := p.tree.PathCosts()
	boosters := make(map[*boost.Booster]int)
	for id := range p.tree.Nodes {
		n := &p.tree.Nodes[id]
		if !n.Leaf() {
			continue
		}
		l := leaf{
			Index: len(p.Leaves), Node: id, Class: n.Class, Tests: tests[id], Cost: cost[id],
			Probabilities: n.Probabilities, Model: -1,
		}
		if n.Model != nil {
			l.Model = len(p.Models)
			p.addModel(n.Model, boosters)
		}
		p.Leaves = append(p.Leaves, l)
	}
}

func (p *program) addModel(of *tree.LeafModel, boosters map[*boost.Booster]int) {
	m := model{Index: len(p.Models), Intercept: of.Intercept, Terms: of.Terms, Booster: -1}
	if of.Booster != nil {
		at, ok := boosters[of.Booster]
		if !ok {
			at = len(p.Boosters)
			boosters[of.Booster] = at
			p.addBooster(of.Booster)
		}
		m.Booster = at
	}
	p.Models = append(p.Models, m)
}

func (p *program) addBooster(of *boost.Booster) {
	b := booster{Index: len(p.Boosters)}
	for _, t := range of.Trees {
		var splits []boosterSplit
		for i := range t {
			s := &t[i]
			f := &p.tree.Features[s.Feature]
			split := boosterSplit{
				Feature: s.Feature, Set: -1, Missing: s.Missing, Yes: s.Yes, No: s.No,
			}
			if f.Kind == dataset.Numeric {
				split.Cut = f.Cuts[s.Code-1]
			} else {
				split.Set = p.set(s.Values(f))
			}
			splits = append(splits, split)
		}
		b.Trees = append(b.Trees, splits)
	}
	p.Boosters = append(p.Boosters, b)
}
