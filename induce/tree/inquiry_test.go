package tree_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// asked calls check for trees with groups, with and without free repeats, and for rows.
func asked(t *testing.T, check func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row)) {
	t.Helper()
	for _, family := range families() {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("tests=%s/seed=%d", family, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(17, seed))
				fs := append(features(), numberedFeatures()...)
				for i := range fs {
					if fs[i].Group == "" && i%2 == 0 {
						fs[i].Group, fs[i].GroupCost = "visit", 1.25
					}
				}
				tr := billedAs(r, family, 2<<seed, fs, []string{"", tree.RepeatFree}[seed%2])
				var rows []row
				for range 60 {
					rows = append(rows, append(randomRow(r, features()), numberedRow(r)...))
				}
				check(t, r, tr, rows)
			})
		}
	}
}

// value returns a row's value of a feature.
func (v row) value(tr *tree.Tree, feature string) tree.Value {
	f := slices.IndexFunc(tr.Features, func(f dataset.Feature) bool { return f.Name == feature })
	return v.values([]tree.Input{{Feature: f}})[0]
}

// path returns the nodes on the way to a leaf.
func path(tr *tree.Tree, leaf int) []int {
	var nodes []int
	for i := leaf; i > 0; {
		i = slices.IndexFunc(tr.Nodes[:i], func(n tree.Node) bool {
			return slices.ContainsFunc(n.Branches, func(b tree.Branch) bool { return b.Child == i })
		})
		nodes = append(nodes, i)
	}
	slices.Reverse(nodes)
	return nodes
}

// bill returns the cost of the tests of these nodes by the prices of features and
// groups, if the values of some features are given.
func bill(tr *tree.Tree, nodes []int, given map[string]bool) float64 {
	bought, groups, sum := make(map[string]bool), make(map[string]bool), 0.
	for _, i := range nodes {
		test := tr.Nodes[i].Test
		f := &tr.Features[test.Feature]
		if given[f.Name] || bought[f.Name] && tr.Algorithm.RepeatCost == tree.RepeatFree {
			continue
		}
		sum += test.Cost
		if f.Group != "" && !groups[f.Group] {
			sum += f.GroupCost
		}
		bought[f.Name], groups[f.Group] = true, true
	}
	return sum
}

// inquire answers an inquiry from a row. Before each question it gives each other value
// with probability gifts. It returns the features asked and given.
func inquire(t *testing.T, r *rand.Rand, tr *tree.Tree, i *tree.Inquiry, v row, gifts float64) (bought,
	given map[string]bool,
) {
	t.Helper()
	bought, given = make(map[string]bool), make(map[string]bool)
	order := r.Perm(len(tr.Features))
	for q := i.Next(); q != nil; q = i.Next() {
		if r.Float64() < gifts && len(order) > 0 {
			f := tr.Features[order[0]].Name
			order = order[1:]
			if err := i.Give(f, v.value(tr, f)); err != nil {
				t.Fatal(err)
			}
			given[f] = given[f] || !bought[f]
			continue
		}
		if bought[q.Feature] || given[q.Feature] {
			t.Fatalf("%q is asked for, which is known", q.Feature)
		}
		before := i.Standing().Paid
		if err := i.Answer(v.value(tr, q.Feature)); err != nil {
			t.Fatal(err)
		}
		bought[q.Feature] = true
		if paid := i.Standing().Paid - before; paid < q.Cost-1e-9 {
			t.Fatalf("%q was to cost %v, and %v was paid", q.Feature, q.Cost, paid)
		}
	}
	return bought, given
}

// checkBills checks that the bill of each feature counts its tests on the path and is 0
// if the value was given, and that the bills add up to the sum paid.
func checkBills(t *testing.T, tr *tree.Tree, i *tree.Inquiry, nodes []int, given map[string]bool) {
	t.Helper()
	tests, paid := make(map[string]int), 0.
	for _, node := range nodes {
		tests[tr.Features[tr.Nodes[node].Test.Feature].Name]++
	}
	for k := range tr.Features {
		name := tr.Features[k].Name
		b := i.Bill(name)
		if b.Tests != tests[name] || given[name] && b.Paid != 0 {
			t.Fatalf("%q: billed %+v: want %d tests (given: %v)", name, b, tests[name], given[name])
		}
		paid += b.Paid
	}
	if math.Abs(paid-i.Paid()) > 1e-9 {
		t.Fatalf("the bills add up to %v, %v was paid", paid, i.Paid())
	}
	if b := i.Bill("no feature"); b != (tree.Bill{}) {
		t.Fatalf("no feature is billed %+v", b)
	}
}

// checkPath checks that the steps of an inquiry are the tests on the path, with the row's values, and
// that their costs add up to the sum paid.
func checkPath(t *testing.T, tr *tree.Tree, i *tree.Inquiry, nodes []int, v row) {
	t.Helper()
	steps, paid := i.Path(), 0.
	if len(steps) != len(nodes) {
		t.Fatalf("%v: a path of %d steps, want %d", v, len(steps), len(nodes))
	}
	for k, s := range steps {
		next := i.Standing().Node
		if k+1 < len(nodes) {
			next = steps[k+1].Node
		}
		paid += s.Cost
		value := v.value(tr, tr.Features[tr.Nodes[s.Node].Test.Feature].Name)
		if s.Node != nodes[k] || s.Child != next || s.Value != value || s.Paid != paid {
			t.Fatalf("%v: step %d is %+v, want node %d to %d with %v", v, k, s, nodes[k], next, value)
		}
	}
	if paid != i.Paid() {
		t.Fatalf("%v: the steps cost %v, %v was paid", v, paid, i.Paid())
	}
}

// TestFollow: a row with all its values takes the way of an inquiry that asks for them.
func TestFollow(t *testing.T) {
	asked(t, func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		questions := tr.Questions()
		for _, v := range rows {
			want := questions.Start(0)
			inquire(t, r, tr, want, v, 0)
			got, err := questions.Follow(v.values(questions.Features()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Path(), got.Path(), cmp.AllowUnexported(tree.Value{})); diff != "" {
				t.Fatalf("%v (-asked +followed):\n%s", v, diff)
			}
			if diff := cmp.Diff(want.Standing(), got.Standing()); diff != "" {
				t.Fatalf("%v (-asked +followed):\n%s", v, diff)
			}
		}
	})
	questions := smallTree().Questions()
	for want, values := range map[string][]tree.Value{
		"0 values: want one for each of the 2":                           nil,
		`column "age": not a number, as the feature needs (value "old")`: {tree.Text("old"), {}},
	} {
		if _, err := questions.Follow(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", values, err, want)
		}
	}
}

// TestInquiry: an inquiry ends at the row's leaf. It asks once for each feature tested on
// the path unless its value was given, and for no other feature. It pays the cost of
// the tests on features not given.
func TestInquiry(t *testing.T) {
	asked(t, func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		questions := tr.Questions()
		scorer := tr.Scorer()
		for k, v := range rows {
			gifts := []float64{0, .2, .6}[k%3]
			i := questions.Start(0)
			bought, given := inquire(t, r, tr, i, v, gifts)
			want, err := scorer.Predict(v.values(scorer.Features()))
			if err != nil {
				t.Fatal(err)
			}
			got := i.Standing()
			nodes := path(tr, want.Leaf)
			if got.Node != want.Leaf || !got.Leaf || got.Class != want.Class || got.Tests != len(nodes) ||
				got.Worst != 0 || got.Expected != 0 {
				t.Fatalf("%v: ends at %+v, want %+v", v, got, want)
			}
			needed := make(map[string]bool)
			for _, node := range nodes {
				if f := tr.Features[tr.Nodes[node].Test.Feature].Name; !given[f] {
					needed[f] = true
				}
			}
			if diff := cmp.Diff(needed, bought); diff != "" {
				t.Fatalf("%v: features asked for (-want +got):\n%s", v, diff)
			}
			if cost := bill(tr, nodes, given); math.Abs(got.Paid-cost) > 1e-9 {
				t.Fatalf("%v: paid %v, want %v", v, got.Paid, cost)
			}
			checkBills(t, tr, i, nodes, given)
			checkPath(t, tr, i, nodes, v)
			if gifts == 0 && got.Paid != want.Cost {
				t.Fatalf("%v: paid %v, want all of %v", v, got.Paid, want.Cost)
			}
		}
	})
}

// TestInquiryCannot: a value that cannot be had costs nothing. If 5 % of the training rows lack it, the row goes where a missing
// value goes. If fewer do, the inquiry ends at the first test of the feature without a branch for missing values alone.
func TestInquiryCannot(t *testing.T) {
	ended := 0
	asked(t, func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		tr.Features = slices.Clone(tr.Features)
		tr.Training.Rows = 100
		for k, v := range rows {
			f := tr.Nodes[0].Test.Feature
			if k%3 > 0 {
				f = r.IntN(len(tr.Features))
			}
			name := tr.Features[f].Name
			finish := func(missing int64, known func(i *tree.Inquiry) error) *tree.Inquiry {
				tr.Features[f].Missing = missing
				i := tr.Questions().Start(0)
				if err := known(i); err != nil {
					t.Fatal(err)
				}
				for q := i.Next(); q != nil; q = i.Next() {
					if err := i.Answer(v.value(tr, q.Feature)); err != nil {
						t.Fatal(err)
					}
				}
				return i
			}
			cannot := func(i *tree.Inquiry) error { return i.Cannot(name) }
			missing := finish(5, func(i *tree.Inquiry) error { return i.Give(name, tree.Value{}) })
			if diff := cmp.Diff(missing.Standing(), finish(5, cannot).Standing()); diff != "" {
				t.Fatalf("%v without %q, as 5 %% of the training rows (-missing +cannot):\n%s", v, name, diff)
			}
			want := missing.Standing()
			for at, step := range missing.Path() {
				n := &tr.Nodes[step.Node]
				own := n.Test.Kind == split.Missing || n.Test.Kind == split.Multiway &&
					slices.ContainsFunc(n.Branches, func(b tree.Branch) bool { return b.Missing && b.Outcome == tr.Features[f].MissingCode() }) ||
					n.Test.Kind == split.Bin && n.Test.Code == 0 && n.Test.Span == len(tr.Features[f].Cuts)
				if n.Test.Feature == f && !own {
					want = tree.Standing{
						Class: tr.Label.Classes[n.Class], Probabilities: n.Probabilities, AtLeast: want.AtLeast, Node: step.Node, Lacks: name,
						Tests: at, Paid: step.Paid - step.Cost,
					}
					ended++
					break
				}
			}
			got := finish(4, cannot).Standing()
			want.AtLeast = got.AtLeast
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v without %q (-want +got):\n%s", v, name, diff)
			}
		}
	})
	if ended < 100 {
		t.Errorf("%d inquiries end before a leaf", ended)
	}
	if err := smallTree().Questions().Start(0).Cannot("agee"); err == nil {
		t.Error("no error for an unknown feature")
	}
	i := smallTree().Questions().Start(0)
	if err := errors.Join(i.Give("age", tree.Number(20)), i.Cannot("age")); err == nil || !strings.Contains(err.Error(), "it is known as 20") {
		t.Errorf("a value that is known: %v", err)
	}
}

// TestInquiryOutlook: at the start the outlook is the tree's complexity, and the greatest
// total cost never grows on the path.
func TestInquiryOutlook(t *testing.T) {
	asked(t, func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		questions := tr.Questions()
		start := questions.Start(0).Standing()
		expected, most := tr.Complexity.ExpectedCost, tr.Complexity.MaxCost
		if math.Abs(start.Expected-expected) > 1e-9 || math.Abs(start.Worst-most) > 1e-9 {
			t.Errorf("to come: %v, at most %v; of the tree %v, %v", start.Expected, start.Worst, expected, most)
		}
		for _, v := range rows {
			i := questions.Start(0)
			last := start
			for q := i.Next(); q != nil; q = i.Next() {
				ahead := tr.Features[r.IntN(len(tr.Features))].Name
				if r.IntN(3) == 0 && ahead != q.Feature {
					if err := i.Give(ahead, v.value(tr, ahead)); err != nil {
						t.Fatal(err)
					}
				} else if err := i.Answer(v.value(tr, q.Feature)); err != nil {
					t.Fatal(err)
				}
				now := i.Standing()
				if now.Paid+now.Worst > last.Paid+last.Worst+1e-9 || now.Expected > now.Worst+1e-9 {
					t.Fatalf("%v: %+v after %+v", v, now, last)
				}
				last = now
			}
		}
	})
}

// TestInquiryConfidence: an inquiry ends at the first node on the row's path with enough
// confidence whose test would cost something. The outlook does not count the tests
// below such nodes.
func TestInquiryConfidence(t *testing.T) {
	asked(t, func(t *testing.T, r *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		questions, scorer, bounds := tr.Questions(), tr.Scorer(), tr.LowerBounds()
		for k, v := range rows {
			confidence := []float64{.1, .2, .4, 1}[k%4]
			i := questions.Start(confidence)
			worst := i.Standing().Worst
			inquire(t, r, tr, i, v, 0)
			p, err := scorer.Predict(v.values(scorer.Features()))
			if err != nil {
				t.Fatal(err)
			}
			nodes := append(path(tr, p.Leaf), p.Leaf)
			end := slices.IndexFunc(nodes, func(id int) bool { // a free repeat does not end the inquiry
				n := &tr.Nodes[id]
				return n.Leaf() || bounds[id] >= confidence && n.Test.Paid() > 0
			})
			got := i.Standing()
			if cost := bill(tr, nodes[:end], nil); got.Node != nodes[end] || math.Abs(got.Paid-cost) > 1e-9 ||
				got.Paid > worst+1e-9 {
				t.Fatalf("confidence %v: ends at node %d for %v (at most %v), want %d for %v", confidence, got.Node,
					got.Paid, worst, nodes[end], cost)
			}
		}
	})
}

func TestInquiryErrors(t *testing.T) {
	i := billedTree().Questions().Start(0)
	for feature, c := range map[string]struct {
		value tree.Value
		want  string
	}{
		"age": {tree.Text("old"), `column "age": not a number, as the feature needs (value "old")`},
		"agd": {tree.Number(3), `column "agd": no column has this name, only ["age" "job"]; did you mean "age"?`},
	} {
		if err := i.Give(feature, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := i.Answer(tree.Text("old")); err == nil {
		t.Error("a text for a number: no error")
	}
	if q := i.Next(); q == nil || q.Feature != "age" || q.Cost != 7 || q.Unit != "euros" {
		t.Errorf("after errors the question is %+v", q)
	}
	if err := i.Answer(tree.Number(50)); err != nil {
		t.Error(err)
	}
	if err := i.Give("age", tree.Number(50)); err != nil {
		t.Errorf("the same value again: %v", err)
	}
	if err := i.Give("age", tree.Number(51)); err == nil || !strings.Contains(err.Error(), "it is known as 50") {
		t.Errorf("another value: %v", err)
	}
	if err := i.Answer(tree.Number(1)); err == nil {
		t.Error("an answer after the end: no error")
	}
}

// TestStartRefuses: an inquiry with a confidence that is no probability takes no values.
func TestStartRefuses(t *testing.T) {
	for _, confidence := range []float64{7, -0.1, math.NaN(), math.Inf(1)} {
		i := billedTree().Questions().Start(confidence)
		for name, err := range map[string]error{"Give": i.Give("age", tree.Number(50)), "Answer": i.Answer(tree.Number(50))} {
			if err == nil || !strings.Contains(err.Error(), "want a probability from 0 to 1") {
				t.Errorf("a confidence of %v: %s returns %v", confidence, name, err)
			}
		}
		asked := 0
		for _, err := range i.All() {
			if asked++; asked > 1 && err == nil {
				t.Fatal("a loop over the questions does not end in an error")
			}
		}
		if asked != 2 {
			t.Errorf("a confidence of %v: %d questions, want one and its error", confidence, asked)
		}
	}
}

// TestQuestionsEnd: a loop over questions asks what Next asks, and ends at a question
// without an answer.
func TestQuestionsEnd(t *testing.T) {
	asked(t, func(t *testing.T, _ *rand.Rand, tr *tree.Tree, rows []row) {
		t.Helper()
		for _, v := range rows {
			loop, steps := tr.Questions().Start(0), tr.Questions().Start(0)
			for q, err := range loop.All() {
				if diff := cmp.Diff(steps.Next(), q); err != nil || diff != "" {
					t.Fatalf("%v: error %v (-want +got):\n%s", v, err, diff)
				}
				if err := errors.Join(loop.Answer(v.value(tr, q.Feature)), steps.Answer(v.value(tr, q.Feature))); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(steps.Standing(), loop.Standing()); diff != "" || steps.Next() != nil {
				t.Fatalf("%v (-want +got):\n%s", v, diff)
			}
		}
	})
	for want, answer := range map[string]func(*tree.Inquiry){
		`feature "age": the question has no answer`: func(*tree.Inquiry) {},
		`feature "age": the question has no answer: column "age": not a number, as the feature needs (value "old"); give ` +
			`a number such as 12.5, or no value`: func(i *tree.Inquiry) { _ = i.Answer(tree.Text("old")) },
	} {
		i, rounds := billedTree().Questions().Start(0), 0
		for q, err := range i.All() {
			if rounds++; err == nil {
				answer(i)
			} else if q != nil || err.Error() != want {
				t.Errorf("question %v, error %v, want %s", q, err, want)
			}
		}
		if rounds != 2 {
			t.Errorf("%d rounds, want a question and an error", rounds)
		}
	}
}

// TestInquiryGroup: by hand, billedTree. If the age is given, the question for the job
// costs the group's price of 4 and the job's of 2.
func TestInquiryGroup(t *testing.T) {
	i := billedTree().Questions().Start(0)
	if err := i.Give("age", tree.Number(20)); err != nil {
		t.Fatal(err)
	}
	if q, s := i.Next(), i.Standing(); q.Feature != "job" || q.Cost != 6 || s.Tests != 1 || s.Paid != 0 ||
		s.Worst != 6 || s.Expected != 6 {
		t.Errorf("question %+v, standing %+v", q, s)
	}
}

// TestInquiryFurther: by hand, billedTree with minutes, 5 for the age, 1 for the job and 10 for the group of both.
func TestInquiryFurther(t *testing.T) {
	m := billedTree()
	for f, minutes := range []float64{5, 1} {
		m.Features[f].FurtherCosts = map[string]float64{"minutes": minutes}
		m.Features[f].GroupFurther = map[string]float64{"minutes": 10}
	}
	due := func(q *tree.Question) float64 { return q.Further.Of("minutes").MaxCost }
	i := m.Questions().Start(0)
	if q := i.Next(); q.Feature != "age" || due(q) != 15 {
		t.Errorf("question %+v, want 15 minutes", q)
	}
	if err := i.Answer(tree.Number(20)); err != nil {
		t.Fatal(err)
	}
	if q, s := i.Next(), i.Standing(); q.Feature != "job" || due(q) != 1 || s.Further.Of("minutes").MaxCost != 15 {
		t.Errorf("question %+v, standing %+v, want 1 minute after 15", q, s)
	}
	i = m.Questions().Start(0)
	if err := i.Give("age", tree.Number(20)); err != nil {
		t.Fatal(err)
	}
	if q, s := i.Next(), i.Standing(); due(q) != 11 || s.Further.Of("minutes").MaxCost != 0 {
		t.Errorf("question %+v, standing %+v, want 11 minutes after 0", q, s)
	}
}

// TestFurtherRefused: costs of a tree in further currencies that no growth writes.
func TestFurtherRefused(t *testing.T) {
	m := billedTree()
	for f := range m.Features {
		m.Features[f].FurtherCosts = map[string]float64{"hours": 1, "minutes": 5}
	}
	m.Bill()
	m.Measure()
	text := string(m.Encode())
	if _, err := tree.Decode([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"unit": "hours"`, `"unit": "days"`, `further costs in "days": want a currency of the features`},
		{`"unit": "hours"`, `"unit": "minutes"`, "each currency once"},
		{`"unit": "hours"`, `"unit": "weeks"`, "in the order of their names"},
		{`"max_cost": 2`, `"max_cost": -2`, "want at least 0"},
	} {
		_, err := tree.Decode([]byte(strings.Replace(text, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

// The decision path of a row: which tests it takes, and what each of them costs.
func ExampleInquiry_Path() {
	t := smallTree() // of tree.Decode
	row, err := t.Questions().Follow([]tree.Value{tree.Number(24), tree.Text("b")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range row.Path() {
		feature := t.Features[t.Nodes[step.Node].Test.Feature].Name
		fmt.Println(feature, "is", step.Value, "for", step.Cost, "to node", step.Child)
	}
	fmt.Println(row.Standing().Class, "for", row.Paid())
	// Output:
	// age is 24 for 3 to node 2
	// job is "b" for 2 to node 3
	// p for 5
}

// A service asks for values one by one, each only if the tree needs it.
func ExampleTree_Questions() {
	t := smallTree()           // of tree.Decode
	questions := t.Questions() // once

	inquiry := questions.Start(0.95)                            // ends early at 95 % confidence
	if err := inquiry.Give("job", tree.Text("b")); err != nil { // a value known beforehand
		log.Fatal(err)
	}
	for q, err := range inquiry.All() {
		if err != nil { // of an answer: a text for a number
			log.Fatal(err)
		}
		fmt.Println(q.Feature, "for", q.Cost)
		_ = inquiry.Answer(tree.Number(24)) // the next round has the error
	}
	s := inquiry.Standing()
	fmt.Println(s.Class, s.Probabilities, "for", s.Paid)
	// Output:
	// age for 3
	// p [0 1] for 3
}
