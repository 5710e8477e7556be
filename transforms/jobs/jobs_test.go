package jobs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/weighing"
	"github.com/espalier-ml/espalier/transforms/jobs"
	"github.com/espalier-ml/espalier/transforms/transformstest/conformance"
)

// world is a small data set as objects, both in memory and in blocks. Tests compare the
// results of the jobs with those of package induce in memory.
type world struct {
	*memoryFiles

	features []dataset.Feature
	columns  []split.Column
	layout   dataset.Layout
	objects  *dataset.Objects
	weight   int64
	counts   [2][]int64 // objects and weight by class
	heaviest int64
	tasks    []jobs.Task
}

// worldClasses are the classes of a world.
var worldClasses = []string{"a", "b", "c"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{memoryFiles: newMemory(t), features: []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6, 7}, Range: []float64{0, 8}, Cost: 1},
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{-0.5, 0.5}, Range: []float64{-1, 1}, Missing: 1, Cost: 2},
		{
			Name: "color", Kind: dataset.Categorical, Values: []string{"blue", "green", "red"}, Type: dataset.Text, Other: 1,
			Cost: 1,
		},
	}}
	w.columns, w.layout = split.Columns(w.features), dataset.NewLayout(w.features)
	random := rand.New(rand.NewPCG(3, 4))
	table := dataset.NewTable(w.layout, false)
	for range 900 {
		key := []byte{
			byte(random.IntN(8)), byte([]int{0, 1, 2, w.features[1].MissingCode()}[random.IntN(4)]),
			byte(random.IntN(4)),
		}
		class := uint16(0)
		switch {
		case key[0] > 4 != (key[2] == 1):
			class = 1
		case key[1] == 2:
			class = 2
		}
		if random.IntN(9) == 0 {
			class = uint16(random.IntN(3))
		}
		table.Add(key, dataset.HashKey(key), class, 1, 1)
	}
	w.objects = dataset.NewObjects(w.layout, len(worldClasses), false, table.Len())
	if err := w.objects.AppendFrom(table.AppendBlock(nil, 0, table.Len()), w.layout); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < table.Len(); from += 20 {
		task := jobs.Task{File: fmt.Sprintf("block-%d", from)}
		w.files[task.File] = table.AppendBlock(nil, from, min(from+20, table.Len()))
		w.tasks = append(w.tasks, task)
	}
	w.counts = [2][]int64{make([]int64, len(worldClasses)), make([]int64, len(worldClasses))}
	for i := range w.objects.Len() {
		rows := w.objects.RowsOf(i)
		w.weight += rows
		w.heaviest = max(w.heaviest, rows)
		w.counts[0][w.objects.Class[i]]++
		w.counts[1][w.objects.Class[i]] += rows
	}
	return w
}

func (w *world) growth(budget int64) *bylevel.Growth {
	return bylevel.NewGrowth(len(worldParams()), slices.Clone(w.counts[0]), slices.Clone(w.counts[1]), budget)
}

func (w *world) growConfig(out string) jobs.GrowConfig {
	c := jobs.GrowConfig{
		Setting: bylevel.Setting{
			Trees: worldParams(), Columns: w.columns, Classes: len(worldClasses), Total: w.weight,
			Heaviest: w.heaviest, Piece: 200,
		},
		Config: config(2), Widths: w.layout.Widths,
	}
	c.Out = out
	return c
}

// grown returns the tree that package memory grows.
func (w *world) grown(p induce.Params) []tree.Node {
	return inmemory.Grow(w.objects, w.columns, p, w.weight, inmemory.Options{})
}

// model returns a tree in the form of tree.json.
func (w *world) model(nodes []tree.Node) *tree.Tree {
	t := tree.New(w.features, nodes)
	t.Label = tree.Label{Column: "class", Classes: worldClasses}
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

// worldParams returns the parameters of two trees of different shapes.
func worldParams() []induce.Params {
	return []induce.Params{
		{Algorithm: split.EC45, Family: split.Both, Lambda: 3, Theta: 0.004},
		{Algorithm: split.CART, Family: split.Multiways, Theta: 0.03, MaxDepth: 5},
	}
}

func (w *world) run(t *testing.T, runner string, build func(s beam.Scope, tasks beam.PCollection)) {
	t.Helper()
	if err := runJob(t, runner, w.tasks, build); err != nil {
		t.Fatal(err)
	}
}

// sameTree compares two trees, with all scores and counts.
func sameTree(t *testing.T, what string, got, want []tree.Node) {
	t.Helper()
	encoded := make([]string, 2)
	for i, n := range [][]tree.Node{got, want} {
		b, err := json.MarshalIndent(tree.SumUp(n), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		encoded[i] = string(b)
	}
	if diff := cmp.Diff(encoded[1], encoded[0]); diff != "" {
		t.Errorf("%s: another tree than that of the objects in memory (-want +got):\n%s", what, diff)
	}
	if n := len(want); n < 15 {
		t.Errorf("%s: a tree of %d nodes proves little", what, n)
	}
}

// TestLevel: growing by levels gives the trees that are grown in memory, in jobs of one or
// three levels, with one or several passes over the objects, with and without files.
func TestLevel(t *testing.T) {
	for _, test := range []struct {
		name, runner string
		levels       int
		memory       int64
		handover     bool
	}{
		{"one level", "direct", 1, 1 << 20, false},
		{"in this process", "direct", 1, 1 << 20, true},
		{"many passes", "direct", 1, 600, false},
		{"three levels", "direct", 3, 1 << 20, false},
		{"on prism", "prism", 3, 1 << 20, false},
	} {
		w := newWorld(t)
		ran := 0
		count := func(state *jobs.LevelState, deep int) jobs.LevelConfig {
			ran++
			c := jobs.LevelConfig{GrowConfig: w.growConfig(fmt.Sprintf("job-%d", ran)), Levels: deep, Memory: test.memory}
			if test.handover {
				c.Handover = new(jobs.Handover)
			}
			if err := jobs.WriteLevel(inRun(t), &c, state, w.tasks); err != nil {
				t.Fatal(err)
			}
			w.run(t, test.runner, func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, c) })
			return c
		}
		g, passes := w.growth(0), 0
		grower := bylevel.NewGrower(w.growConfig("").Setting)
		expand := func(list []bylevel.Pass, counts func(*bylevel.Pass) (*bylevel.Counts, error)) {
			children, err := grower.Expand(g, list, 0, 2, counts)
			if err != nil {
				t.Fatal(err)
			}
			g.Next(children, 0)
		}
		for len(g.Large) > 0 {
			list := grower.Passes(g, test.memory)
			passes = max(passes, len(list))
			if test.levels == 1 || len(list) > 1 {
				expand(list, func(pass *bylevel.Pass) (*bylevel.Counts, error) {
					c := count(&jobs.LevelState{Pass: pass}, 1)
					return jobs.ReadCounts(inRun(t), &c, grower, pass, 0)
				})
				continue
			}
			c := count(&jobs.LevelState{Growth: g, Pass: &list[0]}, test.levels)
			state, level, err := jobs.ReadLevel(inRun(t), &c)
			if err != nil {
				t.Fatal(err)
			}
			if g = state.Growth; state.Pass == nil {
				continue
			}
			expand(grower.Passes(g, test.memory), func(pass *bylevel.Pass) (*bylevel.Counts, error) {
				return jobs.ReadCounts(inRun(t), &c, grower, pass, level)
			})
		}
		for i, nodes := range g.Nodes.Trees() {
			sameTree(t, fmt.Sprintf("%s, tree %d", test.name, i), nodes, w.grown(worldParams()[i]))
		}
		if test.levels > 1 && ran > 4 || (test.memory < 1000) != (passes > 1) {
			t.Errorf("%s: %d jobs, %d passes a level at most", test.name, ran, passes)
		}
	}
}

// TestGrow: the job grows small nodes, and all trees from a small root, as they are grown in
// memory.
func TestGrow(t *testing.T) {
	for _, test := range []struct {
		runner, spill string
		partition     int64 // objects of a partition
		together      int   // trees of a partition, from the root on
		handover      bool
	}{
		{"direct", "", 40, 0, false}, {"direct", "", 40, 1, true}, {"direct", "spilt", 1 << 20, 1, false}, {"prism", "", 1, 1, false},
	} {
		w := newWorld(t)
		small := func(g *bylevel.Growth, out string) {
			c := jobs.SmallConfig{GrowConfig: w.growConfig(out), Together: test.together, Spill: test.spill}
			if test.handover {
				c.Handover = new(jobs.Handover)
			}
			if err := jobs.WriteSmall(inRun(t), &c, g, test.partition); err != nil {
				t.Fatal(err)
			}
			w.run(t, test.runner, func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, c) })
			if err := jobs.ReadGrown(inRun(t), &c, g, test.partition); err != nil {
				t.Fatal(err)
			}
			for i, nodes := range g.Nodes.Trees() {
				sameTree(t, fmt.Sprintf("%+v, %s, tree %d", test, out, i), nodes, w.grown(worldParams()[i]))
			}
		}
		small(w.growth(-1), "root")

		g, grower := w.growth(50), bylevel.NewGrower(w.growConfig("").Setting)
		for len(g.Large) > 0 { // counted in memory: TestLevel tests the job
			children, err := grower.Expand(g, grower.Passes(g, 1<<20), 0, 1, func(pass *bylevel.Pass) (*bylevel.Counts, error) {
				counter := grower.Counter(pass)
				counter.Add(w.objects)
				return grower.Total(pass, []*bylevel.PassCounter{counter}), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			g.Next(children, 50)
		}
		if len(g.Small) < 3 {
			t.Fatalf("%d small nodes, want some", len(g.Small))
		}
		small(g, "nodes")
	}
}

// value returns a value of a feature with the given code.
func (w *world) value(feature, code int) tree.Value {
	f := &w.features[feature]
	switch {
	case code == f.MissingCode():
		return tree.Value{}
	case code == f.OtherCode():
		return tree.Text("none of these")
	case f.Kind == dataset.Categorical:
		return tree.Text(f.Values[code])
	case code == 0:
		return tree.Number(f.Cuts[0] - 0.25)
	default:
		return tree.Number(f.Cuts[code-1])
	}
}

// leafOf returns the leaf of a row.
func leafOf(t *testing.T, s *tree.Scorer, value func(feature int) tree.Value) int {
	t.Helper()
	return predictionOf(t, s, value).Leaf
}

func predictionOf(t *testing.T, s *tree.Scorer, value func(feature int) tree.Value) *tree.Prediction {
	t.Helper()
	var values []tree.Value
	for _, in := range s.Features() {
		values = append(values, value(in.Feature))
	}
	p, err := s.Predict(values)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEvaluate: the counts of a leaf are the counts of the objects that the tree's scorer sends to
// the leaf.
func TestEvaluate(t *testing.T) {
	for _, runner := range conformance.Runners() {
		w := newWorld(t)
		c := jobs.EvaluateConfig{Config: config(2), Widths: w.layout.Widths}
		var trees []*tree.Tree
		for i, p := range worldParams() {
			trees = append(trees, w.model(w.grown(p)))
			c.Trees.URLs = append(c.Trees.URLs, fmt.Sprintf("tree-%d.json", i))
			w.files[c.Trees.URLs[i]] = trees[i].Encode()
		}
		parts := make(map[string]dataset.Part)
		for i := range w.tasks {
			w.tasks[i].Part = []dataset.Part{dataset.Train, dataset.Test}[i%2]
			parts[w.tasks[i].File] = w.tasks[i].Part
		}
		w.run(t, runner, func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, c) })
		for _, part := range []dataset.Part{dataset.Train, dataset.Validation, dataset.Test} {
			got, err := jobs.ReadLeafCounts(inRun(t), c.Out, part, trees)
			if err != nil {
				t.Fatal(err)
			}
			for at, model := range trees {
				want, scorer := model.NewLeafCounts(), model.Scorer()
				for i := range w.objects.Len() {
					if (i/20)%2 == 0 != (part == dataset.Train) || part == dataset.Validation {
						continue
					}
					want.Count(leafOf(t, scorer, func(f int) tree.Value { return w.value(f, w.objects.Codes[f].At(i)) }), w.objects, i)
				}
				if diff := cmp.Diff(want, got[at]); diff != "" {
					t.Errorf("%s, part %d, tree %d: counts (-want +got):\n%s", runner, part, at, diff)
				}
			}
		}
	}
}

// writtenFile has the predictions of one file.
type writtenFile struct {
	m         *memoryFiles
	output    string
	columns   []jobs.PredictionColumn
	leaves    map[int][]uint16 // by row group
	scores    map[int]*tree.Scores
	committed bool
}

func (f *writtenFile) RowGroup(group int, trees ...*jobs.PredictedRows) error {
	rows := trees[0]
	f.leaves[group] = slices.Clone(rows.Leaves)
	if s := rows.Scores; s != nil {
		f.scores[group] = &tree.Scores{
			Leaves: slices.Clone(s.Leaves), Classes: slices.Clone(s.Classes), Probabilities: slices.Clone(s.Probabilities),
		}
	}
	return nil
}

func (f *writtenFile) Commit() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.committed = true
	return nil
}

func (f *writtenFile) Abort() error { return nil }

// scoredRows are rows of a world with what the tree's scorer finds for each.
type scoredRows struct {
	x, y         []float64
	color, label []string
	leaves       []int // node of each row's leaf
	predictions  []*tree.Prediction
	counts       *tree.LeafCounts
	scores       *tree.ScoreCounts
	novelty      map[string]dataset.Novelty // by feature
}

// withModels gives the leaves below a test on x or y models.
func (w *world) withModels(model *tree.Tree) *tree.Tree {
	tested := make([][2]bool, len(model.Nodes))
	for i := range model.Nodes {
		n := &model.Nodes[i]
		for _, b := range n.Branches {
			tested[b.Child] = tested[i]
			if n.Test.Feature < 2 {
				tested[b.Child][n.Test.Feature] = true
			}
		}
		for f, is := range tested[i] {
			if !n.Leaf() || !is {
				continue
			}
			if n.Model == nil {
				n.Model = &tree.LeafModel{Intercept: []float64{0, float64(i%5) / 4, .25}}
			}
			n.Model.Terms = append(n.Model.Terms, tree.Term{
				Feature: f, At: []float64{0, 5}, Values: [][]float64{{1, float64(i % 3), 0}, {-1, 0, 2}}, Missing: []float64{0, 1, 0},
			})
		}
	}
	return model
}

func newScoredRows(t *testing.T, w *world, model *tree.Tree, rows int) *scoredRows {
	t.Helper()
	scorer := model.Scorer()
	random := rand.New(rand.NewPCG(5, 6))
	s := &scoredRows{
		x: make([]float64, rows), y: make([]float64, rows), color: make([]string, rows), label: make([]string, rows),
		leaves: make([]int, rows), counts: model.NewLeafCounts(), novelty: make(map[string]dataset.Novelty),
		scores: model.NewScoreCounts(),
	}
	for r := range rows {
		s.x[r], s.y[r] = float64(random.IntN(100))/10-0.5, float64(random.IntN(5))/2-1
		s.color[r], s.label[r] = []string{"red", "green", "blue", "pink", ""}[random.IntN(5)], worldClasses[random.IntN(3)]
		if r%11 == 0 {
			s.y[r] = math.NaN()
		}
		values := []tree.Value{tree.Number(s.x[r]), tree.Number(s.y[r]), tree.Text(s.color[r])}
		if r%11 == 0 {
			values[1] = tree.Value{}
		}
		if s.color[r] == "" { // the dictionary's null
			values[2] = tree.Value{}
		}
		p := predictionOf(t, scorer, func(f int) tree.Value { return values[f] })
		s.leaves[r], s.predictions = p.Leaf, append(s.predictions, p)
		class := slices.Index(worldClasses, s.label[r])
		s.scores.Add(p.Leaf, slices.Index(worldClasses, p.Class), p.Probabilities, class, 1, 1)
		s.counts.Rows[s.leaves[r]]++
		s.counts.Weights[s.leaves[r]][class]++
		for f, n := range [3]dataset.Novelty{ // by hand: see the ranges and values of newWorld
			{Outside: one(s.x[r] < 0 || s.x[r] > 8)},
			{Missing: one(r%11 == 0), Outside: one(s.y[r] < -1 || s.y[r] > 1)},
			{Missing: one(s.color[r] == ""), Unseen: one(s.color[r] == "pink")},
		} {
			if w.features[f].Missing == 0 { // all training rows had a value
				n.Unseen += n.Missing
			}
			sum := s.novelty[w.features[f].Name]
			sum.Add(n)
			s.novelty[w.features[f].Name] = sum
		}
	}
	return s
}

// inFiles returns the tasks of files with up to two row groups each, and puts the
// row groups into the world.
func (s *scoredRows) inFiles(w *world, group int) []jobs.Task {
	rows := len(s.x)
	var tasks []jobs.Task
	for from := 0; from < rows; from += 2 * group {
		task := jobs.Task{File: fmt.Sprintf("rows-%d", from), Output: fmt.Sprintf("scored-%d", from)}
		for ; task.RowGroups < 2 && from+task.RowGroups*group < rows; task.RowGroups++ {
			low := from + task.RowGroups*group
			high := min(low+group, rows)
			w.groups[task.File+"#"+strconv.Itoa(task.RowGroups)] = map[string]*dataset.Vector{
				"x":     {Type: dataset.Number, Numbers: s.x[low:high]},
				"y":     {Type: dataset.Number, Numbers: s.y[low:high]},
				"color": texts(s.color[low:high]), "class": texts(s.label[low:high]),
			}
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// checkLeaves holds the leaves that were written, and of a tree with leaf models the
// classes and probabilities, against those of the scorer, and
// returns the number of rows.
func (s *scoredRows) checkLeaves(t *testing.T, f *writtenFile, group int, modelled bool) int {
	t.Helper()
	rows := 0
	from, err := strconv.Atoi(f.output[len("scored-"):])
	if err != nil || !f.committed {
		t.Errorf("%s was not committed, error %v", f.output, err)
	}
	ids, ok := f.columns[len(f.columns)-3].Values.([]int32)
	if !ok || f.columns[len(f.columns)-3].Name != "leaf" {
		t.Fatalf("columns %+v", f.columns)
	}
	for g, list := range f.leaves {
		for i, leaf := range list {
			if want := s.leaves[from+g*group+i]; int(ids[leaf]) != want {
				t.Errorf("row %d of %s is in leaf %d, want %d", g*group+i, f.output, ids[leaf], want)
			}
			if p := s.predictions[from+g*group+i]; modelled &&
				(worldClasses[f.scores[g].Classes[i]] != p.Class || !slices.Equal(f.scores[g].Of(i), p.Probabilities)) {
				t.Errorf("row %d of %s has %v, want %+v", g*group+i, f.output, f.scores[g].Of(i), p)
			}
			rows++
		}
	}
	return rows
}

// TestPredict: each row gets the leaf that the tree's scorer finds, and rows, classes and
// unseen values are counted. A file has two row groups.
func TestPredict(t *testing.T) {
	const rows, group = 300, 70
	for i, runner := range slices.Concat(conformance.Runners(), conformance.Runners()) {
		w := newWorld(t)
		model, modelled := w.model(w.grown(worldParams()[0])), i >= len(conformance.Runners())
		if modelled {
			model = w.withModels(model)
		}
		w.files["tree.json"] = model.Encode()
		scorer := model.Scorer()
		list := newScoredRows(t, w, model, rows)
		var files []*writtenFile
		w.predictions = func(output string, columns []jobs.PredictionColumn) jobs.Predictions {
			f := &writtenFile{m: w.memoryFiles, output: output, columns: columns, leaves: make(map[int][]uint16)}
			f.scores = make(map[int]*tree.Scores)
			files = append(files, f)
			return f
		}
		w.tasks = list.inFiles(w, group)
		spec := jobs.RowSpec{Label: "class", Parting: dataset.Parting{Shares: dataset.Shares{1}}}
		for _, in := range scorer.Features() {
			spec.Features = append(spec.Features, dataset.FeatureColumn{Name: in.Name, Kind: in.Kind})
		}
		if len(spec.Features) != len(w.features) {
			t.Fatalf("the tree tests %d features, want all", len(spec.Features))
		}
		c := jobs.PredictConfig{ScoreConfig: scoreConfig("tree.json")}
		c.Rows, c.Pieces = spec.Encode(), 2
		w.run(t, runner, func(s beam.Scope, tasks beam.PCollection) { jobs.Predict(s, tasks, c) })

		predicted, err := jobs.ReadPredicted(inRun(t), &c, model)
		if err != nil {
			t.Fatal(err)
		}
		got := predicted[0]
		wanted := &jobs.Predicted{Rows: rows}
		if !bytes.Equal(got.Scores.Encode(), list.scores.Encode()) || modelled && len(got.Scores.Modelled()) < 20 {
			t.Errorf("%s: %d counts by predictions, want %d", runner, len(got.Scores.Modelled()), len(list.scores.Modelled()))
		}
		if diff := cmp.Diff(list.counts, got.Scores.Plain()); !modelled && diff != "" {
			t.Errorf("%s: counts by leaf (-want +got):\n%s", runner, diff)
		}
		got.Scores = nil
		for _, in := range scorer.Features() {
			wanted.Novelty = append(wanted.Novelty, list.novelty[in.Name])
		}
		wanted.Classes = make([]jobs.PredictedClass, len(worldClasses))
		for _, p := range list.predictions {
			wanted.Cost += p.Cost
			wanted.Classes[slices.Index(worldClasses, p.Class)].Rows++
			for k, x := range p.Probabilities {
				wanted.Classes[k].Probability += x
			}
		}
		if diff := cmp.Diff(wanted, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: counts (-want +got):\n%s", runner, diff)
		}
		seen := 0
		for _, f := range files {
			seen += list.checkLeaves(t, f, group, modelled)
		}
		if seen != rows || len(files) != len(w.tasks) {
			t.Errorf("%s: %d rows in %d files, want %d in %d", runner, seen, len(files), rows, len(w.tasks))
		}
	}
}

// scoreConfig returns the settings of a job that scores rows by the trees of some URLs.
func scoreConfig(urls ...string) jobs.ScoreConfig {
	return jobs.ScoreConfig{Config: config(2), Trees: jobs.Trees{URLs: urls}}
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// TestEvaluateRows: the counts are the counts of the scorer row by row, by tree and part, with and
// without leaf models.
func TestEvaluateRows(t *testing.T) {
	const rows, group = 900, 130
	for _, runner := range conformance.Runners() {
		w := newWorld(t)
		var trees []*tree.Tree
		c := jobs.EvaluateRowsConfig{ScoreConfig: scoreConfig()}
		for i := range 4 {
			model := w.model(w.grown(worldParams()[i%2]))
			if i < 2 {
				model = w.withModels(model)
			}
			if i == 3 { // a single leaf, with the same features as the other trees
				root := model.Nodes[0]
				root.Test, root.Branches = nil, nil
				model.Nodes = []tree.Node{root}
			}
			trees = append(trees, model)
			c.Trees.URLs = append(c.Trees.URLs, fmt.Sprintf("tree-%d.json", i))
			w.files[c.Trees.URLs[i]] = model.Encode()
		}
		if runner == "direct" {
			c.Trees.Decoded, c.Handover = trees, new(jobs.Handover)
		}
		list := newScoredRows(t, w, trees[0], rows)
		w.tasks = nil
		want := evaluated(t, w, list, trees, group, nil)
		c.Rows = w.evaluatedSpec().Encode()
		w.run(t, runner, func(s beam.Scope, tasks beam.PCollection) { jobs.EvaluateRows(s, tasks, c) })
		for _, part := range []dataset.Part{dataset.Train, dataset.Validation, dataset.Test} {
			got, err := jobs.ReadScoreCounts(inRun(t), &c, part, trees)
			if err != nil {
				t.Fatal(err)
			}
			for at := range trees {
				if !bytes.Equal(got[at].Encode(), want[part][at].Encode()) {
					t.Errorf("%s, part %d, tree %d: the counts differ", runner, part, at)
				}
				if (len(got[at].Modelled()) > 20) != (at < 2 && part != dataset.Train) {
					t.Errorf("%s, part %d, tree %d: %d predictions by models", runner, part, at, len(got[at].Modelled()))
				}
			}
		}
	}
}

// evaluatedSpec says how the rows of evaluated are read.
func (w *world) evaluatedSpec() *jobs.RowSpec {
	spec := &jobs.RowSpec{
		Label: "class", Weight: "weight", Rule: weighing.Rule{Units: &[dataset.Parts]dataset.WeightUnit{{Size: 1}, {Size: 1}, {Size: 1}}},
		Parting: dataset.Parting{SplitColumn: "part"}, DropNullLabels: true,
		Features: []dataset.FeatureColumn{{Name: "unused", Kind: dataset.Numeric}},
	}
	for _, f := range w.features {
		spec.Features = append(spec.Features, dataset.FeatureColumn{Name: f.Name, Kind: f.Kind})
	}
	return spec
}

// TestEvaluateSlices: the counts of each slice are the counts of the rows with its value, with and
// without leaf models, for a tested column, a column that is not a feature, and the weights.
func TestEvaluateSlices(t *testing.T) {
	features := []dataset.Feature{
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{-0.5, 0.25, 0.5}},
		{Name: "color", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"blue", "red"}},
		{Name: "weight", Kind: dataset.Categorical, Type: dataset.Number, Values: []string{"1", "3"}},
	}
	groups := 5 + 4 + 4
	for _, runner := range conformance.Runners() {
		for _, modelled := range []bool{false, true} {
			w := newWorld(t)
			model := w.model(w.grown(worldParams()[0]))
			if modelled {
				model = w.withModels(model)
			}
			c := jobs.EvaluateRowsConfig{
				ScoreConfig: scoreConfig("tree.json"), Slices: &jobs.Slices{Features: dataset.EncodeFeatures(features)},
			}
			for _, f := range features {
				c.Slices.Columns = append(c.Slices.Columns, dataset.FeatureColumn{Name: f.Name, Kind: f.Kind})
			}
			w.files["tree.json"] = model.Encode()
			list := newScoredRows(t, w, model, 900)
			w.tasks = nil
			slicesOf := func(r int) []int {
				groups := []int{4, 5 + 2, 9 + 2}
				if y := list.y[r]; y == y {
					groups[0] = features[0].Bin(y)
				}
				if at := slices.Index([]string{"blue", "red", "*", ""}, list.color[r]); at >= 0 {
					groups[1] = 5 + at
				}
				if at := slices.Index([]int{1, 3}, r%4); at >= 0 {
					groups[2] = 9 + at
				}
				return groups
			}
			want := evaluated(t, w, list, slices.Repeat([]*tree.Tree{model}, groups), 130, slicesOf)
			if runner == "direct" {
				c.Trees.Decoded, c.Handover = []*tree.Tree{model}, new(jobs.Handover)
			}
			c.Rows = w.evaluatedSpec().Encode()
			w.run(t, runner, func(s beam.Scope, tasks beam.PCollection) { jobs.EvaluateRows(s, tasks, c) })
			full := 0
			for _, part := range []dataset.Part{dataset.Train, dataset.Validation, dataset.Test} {
				got, err := jobs.ReadScoreCounts(inRun(t), &c, part, slices.Repeat([]*tree.Tree{model}, groups))
				if err != nil {
					t.Fatal(err)
				}
				for at := range got {
					if !bytes.Equal(got[at].Encode(), want[part][at].Encode()) {
						t.Errorf("%s, models %v, part %d, slice %d: the counts differ", runner, modelled, part, at)
					}
					full += int(one(got[at].Plain().TotalRows() > 0 || len(got[at].Modelled()) > 0))
				}
			}
			if full < 14 {
				t.Errorf("%s, models %v: %d slices with rows: the test shows little", runner, modelled, full)
			}
		}
	}
}

// evaluated puts rows with weights and parts into the world, and returns the counts by
// part and tree of the validation and test rows. of returns the trees that a row counts for; nil:
// each row counts for all.
func evaluated(
	t *testing.T, w *world, list *scoredRows, trees []*tree.Tree, group int, of func(r int) []int,
) (want [dataset.Parts][]*tree.ScoreCounts) {
	t.Helper()
	for part := range want {
		for _, model := range trees {
			want[part] = append(want[part], model.NewScoreCounts())
		}
	}
	var weights []float64
	var parts []string
	for r := range list.x {
		weights, parts = append(weights, float64(r%4)), append(parts, []string{"train", "validation", "test"}[r%3])
		if r%17 == 0 {
			list.label[r] = ""
		}
		if r%3 == 0 || r%4 == 0 || r%17 == 0 { // training rows, and rows that do not count
			continue
		}
		values := []tree.Value{tree.Number(list.x[r]), tree.Number(list.y[r]), tree.Text(list.color[r])}
		if list.color[r] == "" {
			values[2] = tree.Value{}
		}
		for at, model := range trees {
			if of != nil && !slices.Contains(of(r), at) {
				continue
			}
			p := predictionOf(t, model.Scorer(), func(f int) tree.Value { return values[f] })
			part := []dataset.Part{dataset.Train, dataset.Validation, dataset.Test}[r%3]
			class := slices.Index(worldClasses, list.label[r])
			want[part][at].Add(p.Leaf, slices.Index(worldClasses, p.Class), p.Probabilities, class, int64(r%4), 1)
		}
	}
	for from := 0; from < len(list.x); from += group {
		to := min(from+group, len(list.x))
		task := jobs.Task{File: "rows", RowGroup: len(w.tasks)}
		w.groups[task.File+"#"+strconv.Itoa(task.RowGroup)] = map[string]*dataset.Vector{
			"x":     {Type: dataset.Number, Numbers: list.x[from:to]},
			"y":     {Type: dataset.Number, Numbers: list.y[from:to]},
			"color": texts(list.color[from:to]), "class": texts(list.label[from:to]),
			"part": texts(parts[from:to]), "weight": {Type: dataset.Number, Numbers: weights[from:to]},
		}
		w.tasks = append(w.tasks, task)
	}
	return want
}
