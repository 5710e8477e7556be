package split

import "github.com/espalier-ml/espalier/induce/naming"

// Algorithm is a criterion: it defines the score of a test.
type Algorithm uint8

// The algorithms, in the order of their definitions. The first three score by the criterion of the paper.
// Below them are the classical criteria and single parts of the criterion.
const (
	EC45  Algorithm = iota + 1 // balance, efficiency and lambda * entropy reduction, per cost
	ECART                      // EC45 with Gini reduction
	ASR                        // EC45 with lambda = 0
	C45                        // entropy reduction
	CART                       // Gini reduction
	CC45                       // entropy reduction per cost
	CCART                      // Gini reduction per cost
	IP                         // heterogeneous pairs separated
	Bal                        // balance by weight
)

// Terms are the parts that a score adds up.
type Terms uint8

// The terms of scores.
const (
	Discrimination    Terms = iota
	BalanceEfficiency       // balance and efficiency
	AllTerms                // balance, efficiency and lambda * discrimination
	Pairs                   // heterogeneous pairs separated
	Balance                 // weight outside the heaviest outcome
)

// definition defines the score of an algorithm.
type definition struct {
	name   string // in flags and tree.json
	terms  Terms
	phi    Impurity
	priced bool // the score is divided by the price of the test
}

// definitions returns the definitions, by Algorithm.
func definitions() []definition {
	return []definition{
		{},
		{name: "ec45", terms: AllTerms, priced: true},
		{name: "ecart", terms: AllTerms, phi: Gini, priced: true},
		{name: "asr", terms: BalanceEfficiency, priced: true},
		{name: "c45"},
		{name: "cart", phi: Gini},
		{name: "cc45", priced: true},
		{name: "ccart", phi: Gini, priced: true},
		{name: "ip", terms: Pairs},
		{name: "bal", terms: Balance},
	}
}

// definition returns the definition of the algorithm. The definition of an unknown algorithm is the zero value.
func (a Algorithm) definition() definition {
	if list := definitions(); int(a) < len(list) {
		return list[a]
	}
	return definition{}
}

// Algorithms returns the names of all algorithms.
func Algorithms() []string {
	var names []string
	for _, d := range definitions()[1:] {
		names = append(names, d.name)
	}
	return names
}

// String returns the name of the algorithm in flags and tree.json.
func (a Algorithm) String() string { return naming.Of(a, 1, Algorithms()) }

// ParseAlgorithm reads the name of an algorithm.
func ParseAlgorithm(s string) (Algorithm, error) {
	return naming.Parse("algorithm", s, Algorithm(1), Algorithms())
}

// Terms returns the terms of the score.
func (a Algorithm) Terms() Terms { return a.definition().terms }

// HasLambda reports whether the score depends on lambda.
func (a Algorithm) HasLambda() bool { return a.Terms() == AllTerms }

// ByPrice reports whether the score depends on the prices of the tests.
func (a Algorithm) ByPrice() bool { return a.definition().priced }

// Impurity returns the impurity that discrimination reduces, and by which trees of the algorithm are pruned.
func (a Algorithm) Impurity() Impurity { return a.definition().phi }

// Family is a set of tests that compete at a node.
type Family uint8

// The families: the package documentation lists their tests.
const (
	OneHot Family = iota + 1
	Thresholds
	Both
	Multiways
	Sets
	All
)

func familyNames() []string {
	return []string{"onehot", "threshold", "both", "multiway", "set", "all"}
}

// Thresholds reports whether the family has thresholds.
func (f Family) Thresholds() bool { return f != OneHot }

// Bins reports whether the family has tests for single bins.
func (f Family) Bins() bool { return f == OneHot || f == Both || f == All }

// WithoutSets returns the family without tests for sets.
func (f Family) WithoutSets() Family {
	switch f {
	case Sets:
		return Thresholds
	case All:
		return Both
	default:
		return f
	}
}

// manyCodes is how many codes a feature has at least for tests for sets of its values in the family All. Trees of single
// values find other trees than trees of sets do, and sometimes better ones, as long as the values are few.
const manyCodes = 1000

// Sets reports whether a categorical feature with this many codes has tests for sets of values in the family.
func (f Family) Sets(codes int) bool { return f == Sets || f == All && codes >= manyCodes }

// String returns the name of the family in flags and tree.json.
func (f Family) String() string { return naming.Of(f, OneHot, familyNames()) }

// ParseFamily reads the name of a family.
func ParseFamily(s string) (Family, error) {
	return naming.Parse("tests", s, OneHot, familyNames())
}

// Classes selects the class weights of a node, which determine impurity and the stopping rule. In
// either case objects have their majority classes for balance and efficiency, which are about
// objects that tests can tell apart. The class weights of soft objects are always counted as by OfRows:
// see dataset.Objects.
type Classes uint8

// The kinds of class weights.
const (
	OfObjects Classes = iota // each object counts with its whole weight for its majority class: the rule of the paper
	OfRows                   // each row counts with its weight for its own class
)

func classesNames() []string { return []string{"objects", "rows"} }

// String returns the name in flags and tree.json.
func (c Classes) String() string { return naming.Of(c, OfObjects, classesNames()) }

// ParseClasses reads the name of a kind of class weights.
func ParseClasses(s string) (Classes, error) {
	return naming.Parse("classes", s, OfObjects, classesNames())
}

// Kind is the kind of a test. The order of the kinds breaks ties within a feature.
type Kind uint8

// The kinds of test.
const (
	Threshold Kind = iota + 1 // outcome 1: code >= Code and not missing
	Bin                       // outcome 1: code = Code, of a numeric feature
	Equals                    // outcome 1: code = Code, of a categorical feature
	Multiway                  // one outcome per code
	Other                     // outcome 1: the code of "other"
	Missing                   // outcome 1: the code of missing
	In                        // outcome 1: the codes in Set, of a categorical feature
)

func kindNames() []string {
	return []string{"threshold", "bin", "equals", "multiway", "other", "missing", "in"}
}

// String returns the kind's name in tree.json.
func (k Kind) String() string { return naming.Of(k, Threshold, kindNames()) }

// ParseKind reads a kind's name.
func ParseKind(s string) (Kind, error) {
	return naming.Parse("kind of test", s, Threshold, kindNames())
}
