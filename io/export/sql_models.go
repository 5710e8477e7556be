package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Leaf models as stages of a query: scores, exponentials, probabilities, the decision.

// modelled returns the column of the models' last stage for an output.
func (s *sqlText) modelled(output int) string {
	if output == 0 {
		return "leaf__prediction"
	}
	return fmt.Sprintf("%s%d", s.lastProbability(), output)
}

func (s *sqlText) lastProbability() string {
	if s.Factors != nil {
		return "leaf__adapted_"
	}
	return "leaf__share_"
}

// modelStages returns the stages after the step to the leaf.
func (s *sqlText) modelStages(last string) []stage {
	model := s.model
	booster := s.booted
	var stages []stage
	if s.dialect.row == "" {
		model = "l.model"
		booster = "l.booster"
	} else {
		stages = append(stages, stage{
			s.Name + "_modelled",
			[]column{{model, "l.model"}, {booster, "l.booster"}},
			fmt.Sprintf("JOIN %s_leaves AS l ON l.at_leaf = p.%s", s.Name, last),
		})
	}
	add := func(name string, columns []column) {
		stages = append(stages, stage{s.Name + "_" + name, columns, ""})
	}
	if len(s.Boosters) > 0 {
		add("boosters", s.each("leaf__boost_", s.Width(), func(k int) string { return s.boosted(booster, k) }))
	}
	add("scores", s.each("leaf__score_", s.Width(), func(k int) string { return s.score(model, k) }))
	for _, g := range s.softmax() {
		add(g.name, g.columns)
	}
	classes := len(s.Label.Classes)
	if s.Factors != nil {
		add("weighted", s.each("leaf__weighted_", classes, func(k int) string {
			return fmt.Sprintf("leaf__share_%d * %s", k+1, s.Number(s.Factors[k]))
		}))
		total := s.all("leaf__weighted_", classes)
		add("adapted", s.each("leaf__adapted_", classes, func(k int) string {
			return fmt.Sprintf("CASE WHEN %[1]s > 0 THEN leaf__weighted_%[2]d / (%[1]s) ELSE leaf__weighted_%[2]d END", total, k+1)
		}))
	}
	for _, g := range s.decision() {
		add(g.name, g.columns)
	}
	return stages
}

func (s *sqlText) each(prefix string, n int, text func(k int) string) []column {
	list := make([]column, n)
	for k := range list {
		list[k] = column{fmt.Sprintf("%s%d", prefix, k+1), text(k)}
	}
	return list
}

// all returns the sum of numbered columns.
func (s *sqlText) all(prefix string, n int) string { return s.sum(numbered(prefix, n)) }

func numbered(prefix string, n int) []string {
	list := make([]string, n)
	for k := range list {
		list[k] = fmt.Sprintf("%s%d", prefix, k+1)
	}
	return list
}

// most is how many terms a sum has, and arguments a function: databases bear no deep expressions.
const mostTerms = 40

// sum returns a sum of sums.
func (s *sqlText) sum(terms []string) string {
	for len(terms) > mostTerms {
		var sums []string
		for part := range slices.Chunk(terms, mostTerms) {
			sums = append(sums, "("+strings.Join(part, " + ")+")")
		}
		terms = sums
	}
	return strings.Join(terms, " + ")
}

// most returns the greatest of some columns.
func (s *sqlText) most(function string, names []string) string {
	for len(names) > 1 {
		var calls []string
		for part := range slices.Chunk(names, mostTerms) {
			if len(part) == 1 {
				calls = append(calls, part[0])
			} else {
				calls = append(calls, function+"("+strings.Join(part, ", ")+")")
			}
		}
		names = calls
	}
	return names[0]
}

// boosted returns the sum of the values of the trees of a row's booster.
func (s *sqlText) boosted(booster string, k int) string {
	text := []string{"CASE " + booster}
	for _, b := range s.Boosters {
		terms := make([]string, 0, len(b.Trees))
		for _, t := range b.Trees {
			terms = append(terms, s.split(t, 0, k, s.language.levels()/2)) // a sum is around it
		}
		if len(terms) > 0 {
			text = append(text, fmt.Sprintf("    WHEN %d THEN %s", b.Index, s.double(s.sum(terms))))
		}
	}
	return strings.Join(append(text, "    ELSE "+s.double(s.Number(0))+" END"), "\n")
}

func (s *sqlText) double(text string) string { return "CAST(" + text + " AS " + s.dialect.double + ")" }

// split returns the value of a booster's tree, starting at a split. Conditions are nested as deeply
// as the parser of the database permits. Below that depth each leaf has its own condition.
func (s *sqlText) split(t []boosterSplit, at, k, nested int) string {
	if nested == 0 {
		return "CASE" + s.leavesBelow(t, boost.Side{Split: at}, k, nil) + " END"
	}
	side := func(to boost.Side) string {
		if to.Values != nil {
			return s.Number(to.Values[k])
		}
		return s.split(t, to.Split, k, nested-1)
	}
	b := &t[at]
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", s.condition(b), side(b.Yes), side(b.No))
}

// leavesBelow returns the branches of a CASE for the leaves below a side. met are the conditions
// that hold there. The leaves on the no side come after all leaves on the yes side, so that their
// branches need not negate the condition.
func (s *sqlText) leavesBelow(t []boosterSplit, to boost.Side, k int, met []string) string {
	if to.Values != nil {
		if len(met) == 0 {
			return " ELSE " + s.Number(to.Values[k])
		}
		return " WHEN " + strings.Join(met, " AND ") + " THEN " + s.Number(to.Values[k])
	}
	b := &t[to.Split]
	own := s.condition(b)
	if b.Missing {
		own = "(" + own + ")"
	}
	return s.leavesBelow(t, b.Yes, k, append(slices.Clone(met), own)) + s.leavesBelow(t, b.No, k, met)
}

// condition returns the condition of a booster's split.
func (s *sqlText) condition(b *boosterSplit) string {
	name := s.Features[b.Feature].Const
	var condition string
	if b.Set < 0 {
		condition = fmt.Sprintf("%s >= %s", name, s.Number(b.Cut))
	} else if in := s.Sets[b.Set]; len(in) == 1 {
		condition = fmt.Sprintf("%s = %s", name, s.Text(in[0]))
	} else {
		condition = s.language.member(name, b.Set, in, false)
	}
	if b.Missing {
		condition += fmt.Sprintf(" OR %s IS NULL", name)
	}
	return condition
}

// score returns a score of a row's leaf model.
func (s *sqlText) score(model string, k int) string {
	text := []string{"CASE " + model}
	for _, m := range s.Models {
		terms := []string{s.Number(m.Intercept[k])}
		for _, t := range m.Terms {
			terms = append(terms, s.term(&t, k))
		}
		if m.Booster >= 0 {
			terms = append(terms, fmt.Sprintf("leaf__boost_%d", k+1))
		}
		text = append(text, fmt.Sprintf("    WHEN %d THEN %s", m.Index, s.double(s.sum(terms))))
	}
	return strings.Join(append(text, "  END"), "\n")
}

// term returns a piecewise linear function.
func (s *sqlText) term(t *tree.Term, k int) string {
	x := s.Features[t.Feature].Const
	last := len(t.At) - 1
	var b strings.Builder
	fmt.Fprintf(&b, "\n      CASE WHEN %[1]s IS NULL THEN %[2]s WHEN %[1]s <= %[3]s THEN %[4]s", x,
		s.Number(t.Missing[k]), s.Number(t.At[0]), s.Number(t.Values[0][k]))
	for i := 1; i <= last; i++ {
		from, to := t.Values[i-1][k], t.Values[i][k]
		fmt.Fprintf(&b, "\n        WHEN %s < %s THEN %s", x, s.Number(t.At[i]), s.Number(from))
		if from != to {
			fmt.Fprintf(&b, " + (%s) * ((%s - (%s)) / %s)", s.Number(to-from), x, s.Number(t.At[i-1]),
				s.Number(t.At[i]-t.At[i-1]))
		}
	}
	fmt.Fprintf(&b, " ELSE %s END", s.Number(t.Values[last][k]))
	return b.String()
}

// softmax returns the stages from scores to probabilities.
func (s *sqlText) softmax() []stage {
	classes := len(s.Label.Classes)
	exp := func(x string) string {
		if s.dialect.name == "postgresql" { // it fails where others return 0
			x = "GREATEST(" + x + ", -300)"
		}
		return "EXP(" + x + ")"
	}
	if classes == 2 {
		return []stage{
			{"exponentials", []column{{"leaf__exp_1", exp("-ABS(leaf__score_1)")}}, ""},
			{"shares", s.each("leaf__share_", 2, func(k int) string {
				rare := "leaf__exp_1 / (1 + leaf__exp_1)"
				frequent := "1 / (1 + leaf__exp_1)"
				if k == 1 {
					rare, frequent = frequent, rare
				}
				return fmt.Sprintf("CASE WHEN leaf__score_1 < 0 THEN %s ELSE %s END", frequent, rare)
			}), ""},
		}
	}
	total := s.all("leaf__exp_", classes)
	return []stage{
		{"most", []column{{"leaf__most", s.most(s.dialect.greatest, numbered("leaf__score_", classes))}}, ""},
		{"exponentials", s.each("leaf__exp_", classes, func(k int) string {
			return exp(fmt.Sprintf("leaf__score_%d - leaf__most", k+1))
		}), ""},
		{"shares", s.each("leaf__share_", classes, func(k int) string {
			return fmt.Sprintf("leaf__exp_%d / (%s)", k+1, total)
		}), ""},
	}
}

// decision returns the stages to the class: the class of interest from its threshold on, the most
// probable class, or the one of the least expected cost of errors.
func (s *sqlText) decision() []stage {
	classes := slices.Clone(s.Label.Classes)
	names := numbered(s.lastProbability(), len(classes))
	function := s.dialect.greatest
	within, beyond := "leaf__best", ""
	text := []string{"CASE"}
	if s.Label.Thresholded() {
		at := s.Label.Positive()
		text = append(text, fmt.Sprintf("WHEN %s >= %s THEN %s", names[at], s.Number(s.Label.Decision.Threshold),
			s.Text(classes[at])))
		names = slices.Delete(names, at, at+1) // the other classes
		classes = slices.Delete(classes, at, at+1)
	}
	var stages []stage
	if costs := s.Label.ErrorCosts; costs != nil {
		stages = append(stages, stage{"errors", s.each("leaf__error_", len(classes), func(k int) string {
			var terms []string
			for actual, name := range names {
				terms = append(terms, name+" * "+s.Number(costs[actual][k]))
			}
			return s.sum(terms)
		}), ""})
		names = numbered("leaf__error_", len(classes))
		function = map[string]string{"MAX": "MIN"}[function]
		if function == "" {
			function = "LEAST"
		}
		beyond = " + 1e-12 * " + s.most(s.dialect.greatest, names)
	}
	stages = append(stages, stage{"best", []column{{"leaf__best", s.most(function, names) + beyond}}, ""})
	for k, name := range names {
		is := ">="
		if s.Label.ErrorCosts != nil {
			is = "<="
		}
		if k < len(classes)-1 {
			text = append(text, fmt.Sprintf("WHEN %s %s %s THEN %s", name, is, within, s.Text(classes[k])))
		}
	}
	text = append(text, "ELSE "+s.Text(classes[len(classes)-1])+" END")
	return append(stages, stage{"decided", []column{{"leaf__prediction", strings.Join(text, " ")}}, ""})
}
