package boost_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// numeric returns a numeric feature of the values 0, 1, .. below n, one in each bin.
func numeric(name string, n int) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Numeric}
	for x := 1; x < n; x++ {
		f.Cuts = append(f.Cuts, float64(x)-0.5)
	}
	return f
}

// all returns the numbers of all objects.
func all(o *dataset.Objects) []int32 {
	ids := make([]int32, o.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// width returns the number of scores.
func width(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// scoresOf returns the scores of all objects by a booster.
func scoresOf(b *boost.Booster, o *dataset.Objects, features []dataset.Feature, start []float64) []float64 {
	scores, n := slices.Clone(start), width(o.Classes)
	for i := range o.Len() {
		growtest.AddBooster(b, scores[i*n:][:n], features, func(feature int) int { return o.Codes[feature].At(i) })
	}
	return scores
}

// logLoss returns the mean log loss of objects of one class each.
func logLoss(o *dataset.Objects, scores []float64) float64 {
	loss, n := 0.0, width(o.Classes)
	for i := range o.Len() {
		z := scores[i*n:][:n]
		if n == 1 {
			z = []float64{0, z[0]}
		}
		sum := 0.0
		for _, v := range z {
			sum += math.Exp(v)
		}
		loss += math.Log(sum) - z[o.Class[i]]
	}
	return loss / float64(o.Len())
}

// TestChanceGain: on rows whose classes depend on one of two features a little, a booster whose splits gain more than
// chance has a lower log loss on other rows than a booster with any splits, and fewer splits. A gain that no split has
// leaves no trees.
func TestChanceGain(t *testing.T) {
	features := []dataset.Feature{numeric("weak", 64), numeric("noise", 64)}
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) *dataset.Objects {
		o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
		for range n {
			codes := []int{r.IntN(64), r.IntN(64)}
			class := uint16(0)
			if r.IntN(128) < 32+codes[0] {
				class = 1
			}
			o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
		return o
	}
	training := draw(3000)
	other := draw(20_000)
	fit := func(gain float64) (splits int, loss float64) {
		b := boost.Fit(training, features, []int{0, 1}, all(training), make([]float64, training.Len()), boost.Options{Gain: gain})
		for _, tree := range b.Trees {
			splits += len(tree)
		}
		return splits, logLoss(other, scoresOf(b, other, features, make([]float64, other.Len())))
	}
	splits, loss := fit(0)
	fewer, less := fit(boost.ChanceGain)
	if fewer >= splits || less >= loss {
		t.Errorf("log loss %.4f with %d splits, %.4f with %d splits that gain more than chance: want less with fewer",
			loss, splits, less, fewer)
	}
	if none, _ := fit(1e6); none > 0 {
		t.Errorf("%d splits gain more than all rows have to gain", none)
	}
}

// TestLikeLightGBM: the first tree gives the scores of LightGBM 4.7.0 with the same settings: at most
// 32 leaves, learning rate 0.3, lambda_l2 1, no least Hessian, and scores to begin with. Both are
// rounded to 0.001. After 10 trees the log loss is no higher. (Later trees differ: here the numbers
// of leaves are rounded, and some splits gain nearly the same.) The rows are from a linear
// congruential generator; each pair of values has some 200, so the least number of objects of a
// leaf, which LightGBM estimates, rules no split out.
func TestLikeLightGBM(t *testing.T) {
	features := []dataset.Feature{numeric("a", 10), numeric("b", 8)}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
	state := uint64(12345)
	next := func(n uint64) int {
		state = (state*1103515245 + 12345) % (1 << 31)
		return int((state >> 8) % n)
	}
	var start []float64
	for range 16000 {
		a, b, noise := next(10), next(8), next(10)
		class := 0
		if ((a*3+b*b/2)%11 > 5) != (noise == 0) {
			class = 1
		}
		o.Append([]int{a, b}, []dataset.ClassWeight{{Class: uint16(class), Weight: 1}}, 1)
		if a >= 5 {
			start = append(start, 0.5)
		} else {
			start = append(start, -0.25)
		}
	}
	fitted := slices.Clone(start)
	b := boost.Fit(o, features, []int{0, 1}, all(o), fitted, boost.Options{})
	first := boost.Booster{Trees: b.Trees[:1]}
	want := []float64{
		-0.405, -0.405, -0.405, 0.086, 0.086, -0.423, 0.559, -0.428, 0.563, 0.563, 0.579, 0.579, -0.396, 0.576,
		-0.407, 0.557, -0.537, -0.537, -0.373, -0.373, 0.555, -0.526, -0.080, -0.080, 0.371, 0.371, 0.059, 0.059,
		-0.657, 0.366, -0.080, -0.080, -0.656, -0.656, -0.442, -0.442, 0.383, -0.656, -0.080, -0.080,
	}
	for x := 0; x < 10; x += 2 {
		for y := range 8 {
			score := []float64{0}
			growtest.AddBooster(&first, score, features, func(feature int) int { return []int{x, y}[feature] })
			if math.Abs(score[0]-want[0]) > 0.0011 {
				t.Errorf("a %d, b %d: score %.3f, want %.3f", x, y, score[0], want[0])
			}
			want = want[1:]
		}
	}
	if got := logLoss(o, fitted); got > 0.354819 {
		t.Errorf("log loss %.6f, want at most LightGBM's 0.354819", got)
	}
}

// random returns objects of features of both kinds with missing values. Their classes follow the
// features together.
func random(seed uint64, classes, objects int) (*dataset.Objects, []dataset.Feature) {
	r := rand.New(rand.NewPCG(seed, 1))
	features := []dataset.Feature{
		numeric("a", 12), numeric("b", 9),
		{Name: "c", Kind: dataset.Categorical, Values: []string{"p", "q", "r", "s"}, Other: 1},
		numeric("unused", 5),
	}
	features[0].Missing = 1
	o := dataset.NewObjects(dataset.NewLayout(features), classes, false, objects)
	for range objects {
		codes := []int{r.IntN(12), r.IntN(9), r.IntN(5), r.IntN(5)} // code 4 of c: a value that is not listed
		class := (codes[0]/4 + codes[1]/3 + codes[2]) % classes
		if r.IntN(8) == 0 {
			codes[0] = features[0].MissingCode()
			class = 0
		}
		if r.IntN(10) == 0 {
			class = r.IntN(classes)
		}
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(class), Weight: 1}}, 1)
	}
	return o, features
}

// TestFit: Fit raises the scores by the values of the booster. Each tree lowers the log loss of the
// objects. Only the given features are used. Each leaf has at least 20 objects.
func TestFit(t *testing.T) {
	for _, classes := range []int{2, 3, 5} {
		t.Run(fmt.Sprintf("classes=%d", classes), func(t *testing.T) {
			o, features := random(uint64(classes), classes, 3000)
			start := make([]float64, o.Len()*width(classes))
			for i := range start {
				start[i] = float64(i%5) / 10
			}
			fitted := slices.Clone(start)
			b := boost.Fit(o, features, []int{0, 1, 2}, all(o), fitted, boost.Options{})
			if len(b.Trees) != boost.Trees {
				t.Fatalf("%d trees, want %d", len(b.Trees), boost.Trees)
			}
			if used := b.Features(); !slices.Equal(used, []int{0, 1, 2}) {
				t.Errorf("features %v are used, want 0, 1 and 2", used)
			}
			if got := scoresOf(b, o, features, start); !reflect.DeepEqual(got, fitted) {
				t.Error("Fit raises the scores by other numbers than the booster")
			}
			last := logLoss(o, start)
			for n := range b.Trees {
				loss := logLoss(o, scoresOf(&boost.Booster{Trees: b.Trees[:n+1]}, o, features, start))
				if loss >= last {
					t.Errorf("tree %d: log loss %.5f after %.5f, want less", n, loss, last)
				}
				last = loss
			}
			for n, tree := range b.Trees {
				for _, split := range tree {
					if f := &features[split.Feature]; f.Kind == dataset.Categorical && split.Code >= len(f.Values) {
						t.Errorf("tree %d asks for code %d of %s, which is no value", n, split.Code, f.Name)
					}
				}
				for side, objects := range leafSizes(o, features, tree) {
					if objects < 20 {
						t.Errorf("tree %d: a leaf %v of %d objects, want at least 20", n, side, objects)
					}
				}
			}
		})
	}
}

// leafSizes returns the number of objects by leaf, which is named by its split and its side.
func leafSizes(o *dataset.Objects, features []dataset.Feature, t boost.Tree) map[string]int {
	sizes := make(map[string]int)
	for at := range t {
		for yes, side := range map[bool]boost.Side{true: t[at].Yes, false: t[at].No} {
			if side.Values == nil {
				continue
			}
			marked := slices.Clone(t) // this leaf adds 1, all other leaves nothing
			for i := range marked {
				marked[i].Yes.Values, marked[i].No.Values = blank(t[i].Yes), blank(t[i].No)
			}
			one := []float64{1}
			if yes {
				marked[at].Yes.Values = one
			} else {
				marked[at].No.Values = one
			}
			b := boost.Booster{Trees: []boost.Tree{marked}}
			n := 0
			for i := range o.Len() {
				score := []float64{0}
				growtest.AddBooster(&b, score, features, func(feature int) int { return o.Codes[feature].At(i) })
				n += int(score[0])
			}
			sizes[fmt.Sprintf("split %d %v", at, yes)] = n
		}
	}
	return sizes
}

func blank(s boost.Side) []float64 {
	if s.Values == nil {
		return nil
	}
	return []float64{0}
}

// TestMissing: rows without a value go to the side that lowers the log loss.
func TestMissing(t *testing.T) {
	features := []dataset.Feature{numeric("a", 4)}
	features[0].Missing = 1
	for _, like := range []int{0, 3} { // the bin that rows without a value are like
		o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
		for i := range 400 {
			code := i % 5 // 4: missing
			class := uint16(0)
			if code == 3 || code == 4 && like == 3 {
				class = 1
			}
			o.Append([]int{code}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
		b := boost.Fit(o, features, []int{0}, all(o), make([]float64, o.Len()), boost.Options{})
		score := func(code int) float64 {
			scores := []float64{0}
			growtest.AddBooster(b, scores, features, func(int) int { return code })
			return scores[0]
		}
		if got, want := score(features[0].MissingCode()), score(like); got != want {
			t.Errorf("a missing value adds %v, want %v as bin %d", got, want, like)
		}
	}
}

// TestFitWeights: a weight counts as a number of rows, in the unit of the scale.
func TestFitWeights(t *testing.T) {
	o, features := random(7, 3, 800)
	heavy := dataset.NewObjects(dataset.NewLayout(features), 3, true, o.Len())
	for i := range o.Len() {
		codes := make([]int, len(features))
		for f := range codes {
			codes[f] = o.Codes[f].At(i)
		}
		heavy.Append(codes, []dataset.ClassWeight{{Class: o.Class[i], Weight: 256}}, 1)
	}
	fit := func(o *dataset.Objects, scale float64) *boost.Booster {
		return boost.Fit(o, features, []int{0, 1, 2}, all(o), make([]float64, 3*o.Len()), boost.Options{Scale: scale})
	}
	if !reflect.DeepEqual(fit(o, 1), fit(heavy, 256)) {
		t.Error("weights of 256 in units of 1/256 give another booster")
	}
}

// TestFitNothing: there is no tree where nothing is to be gained.
func TestFitNothing(t *testing.T) {
	o, features := random(3, 2, 39) // no split leaves 20 objects on both sides
	b := boost.Fit(o, features, []int{0, 1}, all(o), make([]float64, o.Len()), boost.Options{})
	if len(b.Trees) > 0 {
		t.Errorf("%d trees, want none", len(b.Trees))
	}
	o, features = random(3, 2, 500)
	stopped := boost.Fit(o, features, []int{0, 1}, all(o), make([]float64, o.Len()), boost.Options{Stop: func() bool { return true }})
	if len(stopped.Trees) > 0 {
		t.Errorf("%d trees after a stop, want none", len(stopped.Trees))
	}
}

// TestDrawnFeatures: the first tree may use all features. A further tree that may use one of them is the tree of
// a fit to this feature alone, and each feature gets its turn.
func TestDrawnFeatures(t *testing.T) {
	for _, classes := range []int{2, 3} {
		o, features := random(uint64(classes), classes, 1500)
		use, drawn := []int{0, 1, 2}, make(map[int]bool)
		scores := make([]float64, o.Len()*width(classes))
		start := slices.Clone(scores)
		trees := boost.Fit(o, features, use, all(o), scores, boost.Options{Features: 1}).Trees
		first := boost.Fit(o, features, use, all(o), start, boost.Options{Trees: 1}).Trees
		if !reflect.DeepEqual(trees[:1], first) {
			t.Fatalf("%d classes: %v, want %v", classes, trees[0], first[0])
		}
		for number, got := range trees[1:] {
			feature := got[0].Feature
			want := boost.Fit(o, features, []int{feature}, all(o), start, boost.Options{Trees: 1}).Trees[0]
			if drawn[feature] = true; !reflect.DeepEqual(got, want) {
				t.Fatalf("%d classes, tree %d: %v, want %v", classes, number+1, got, want)
			}
		}
		if !slices.Equal(scores, start) || len(drawn) < len(use) {
			t.Errorf("%d classes: features %v of %v were drawn, same scores: %v", classes, drawn, use, slices.Equal(scores, start))
		}
	}
}

// TestBins: trees that tell a few ranges of values apart only cut between these ranges, which have
// about the same number of objects. With as many ranges as values the booster stays the same.
func TestBins(t *testing.T) {
	o, features := random(11, 2, 4000)
	use := []int{0, 1, 2}
	fit := func(bins int) *boost.Booster {
		return boost.Fit(o, features, use, all(o), make([]float64, o.Len()), boost.Options{Bins: bins})
	}
	if !reflect.DeepEqual(fit(0), fit(12)) {
		t.Error("a limit of 12 bins changes the splits of features with at most 12")
	}
	cuts := make(map[int][]int) // by feature
	for _, tree := range fit(3).Trees {
		for _, split := range tree {
			asked := []int{split.Code}
			if features[split.Feature].Kind == dataset.Categorical {
				asked = slices.DeleteFunc([]int{0, 1, 2, 3}, func(code int) bool { return !split.Has(code) })
			}
			for _, code := range asked {
				if at, found := slices.BinarySearch(cuts[split.Feature], code); !found {
					cuts[split.Feature] = slices.Insert(cuts[split.Feature], at, code)
				}
			}
		}
	}
	for feature, want := range [][]int{{4, 8}, {3, 6}} { // a has 12 values, b has 9, which are equally frequent
		got := cuts[feature]
		if len(got) != 2 || max(got[0]-want[0], want[0]-got[0]) > 1 || max(got[1]-want[1], want[1]-got[1]) > 1 {
			t.Errorf("%s is cut at %v, want about %v", features[feature].Name, got, want)
		}
	}
	if len(cuts[2]) != 4 {
		t.Errorf("splits ask for the categories %v, want all 4", cuts[2])
	}
}

func BenchmarkFit(b *testing.B) {
	for _, classes := range []int{2, 5} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			o, features := random(1, classes, 20000)
			scores := make([]float64, o.Len()*width(classes))
			ids := all(o)
			for b.Loop() {
				clear(scores)
				boost.Fit(o, features, []int{0, 1, 2}, ids, scores, boost.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*o.Len()), "ns/object")
		})
	}
}

// BenchmarkFitFine has many bins and few objects, as an inner node of a tree has.
func BenchmarkFitFine(b *testing.B) {
	for _, n := range []int{300, 3000, 30000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			features := []dataset.Feature{numeric("x", 128), numeric("y", 128), numeric("z", 128)}
			o := dataset.NewObjects(dataset.NewLayout(features), 2, false, n)
			for range n {
				x := []int{r.IntN(128), r.IntN(128), r.IntN(128)}
				class := uint16(0)
				if r.IntN(400) < x[0]+x[1] {
					class = 1
				}
				o.Append(x, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
			}
			scores, ids := make([]float64, o.Len()), all(o)
			for b.Loop() {
				clear(scores)
				boost.Fit(o, features, []int{0, 1, 2}, ids, scores, boost.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/object")
		})
	}
}
