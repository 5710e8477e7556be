package tree_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// scoredRow is a row with its prediction.
type scoredRow struct {
	leaf, predicted, class int
	probabilities          []float64
	weight                 int64
}

// scoredRows sends random rows through a tree.
func scoredRows(t *testing.T, r *rand.Rand, tr *tree.Tree, n int) []scoredRow {
	t.Helper()
	scorer := tr.Scorer()
	var some []row
	for range n / 2 {
		some = append(some, randomRow(r, tr.Features))
	}
	rows := make([]scoredRow, n)
	for i := range rows {
		p, err := scorer.Predict(some[r.IntN(len(some))].values(scorer.Features()))
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = scoredRow{
			p.Leaf, slices.Index(tr.Label.Classes, p.Class), r.IntN(len(tr.Label.Classes)), p.Probabilities, int64(1 + r.IntN(5)),
		}
	}
	return rows
}

// countScores counts rows, with a greatest number of distinct predictions.
func countScores(tr *tree.Tree, rows []scoredRow, most int) *tree.ScoreCounts {
	c := tr.NewScoreCounts()
	c.Bound(most)
	for _, v := range rows {
		c.Add(v.leaf, v.predicted, v.probabilities, v.class, v.weight, 1)
	}
	return c
}

// naiveScores groups the rows at leaves with models at the least level at which there are
// at most so many groups, by the definition. The probabilities are those of a group's
// first row if no bits are lost; else by the mean of the rows' bits.
func naiveScores(tr *tree.Tree, rows []scoredRow, most int) (lost int, list []tree.ScoreCount) {
	for lost = 0; ; lost++ {
		groups, means := make(map[string]*tree.ScoreCount), make(map[*tree.ScoreCount][]float64)
		list = nil
		for _, v := range rows {
			if tr.Nodes[v.leaf].Model == nil {
				continue
			}
			key := []byte{byte(v.leaf >> 8), byte(v.leaf), byte(v.predicted)} // in the order of the list
			for _, p := range v.probabilities {
				key = binary.BigEndian.AppendUint64(key, math.Float64bits(p)>>lost)
			}
			g := groups[string(key)]
			if g == nil {
				g = &tree.ScoreCount{
					Leaf: v.leaf, Class: v.predicted, Probabilities: v.probabilities, Weights: make([]int64, len(tr.Label.Classes)),
				}
				groups[string(key)], means[g] = g, make([]float64, len(v.probabilities))
			}
			for k, p := range v.probabilities {
				means[g][k] += float64(math.Float64bits(p))
			}
			g.Rows++
			g.Weights[v.class] += v.weight
		}
		if len(groups) > most && lost < 64 {
			continue
		}
		keys := slices.Sorted(maps.Keys(groups))
		for _, key := range keys {
			g := groups[key]
			if lost > 0 {
				p, sum := make([]float64, len(means[g])), 0.0
				for k, x := range means[g] {
					p[k] = math.Float64frombits(uint64(x / float64(g.Rows)))
					sum += p[k]
				}
				for k := range p {
					p[k] /= sum
				}
				g.Probabilities = p
			}
			list = append(list, *g)
		}
		return lost, list
	}
}

// TestScoreCounts: the counts equal the counts by the definition, and neither they nor their bytes
// depend on the order of rows and merges.
func TestScoreCounts(t *testing.T) {
	levels := make(map[int]bool)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(41, seed))
		tr := grownTree(r, split.Both, 30, numericFeatures())
		if seed%2 == 0 {
			twoClasses(tr)
		}
		withModels(r, tr, .6, 4)
		rows := scoredRows(t, r, tr, 400)
		most := []int{1, 40, 120, 200, 100000}[seed%5]
		whole := countScores(tr, rows, most)
		lost, want := naiveScores(tr, rows, most)
		levels[lost] = true
		if whole.LostBits() != lost {
			t.Fatalf("seed %d: %d bits lost, want %d", seed, whole.LostBits(), lost)
		}
		checkScores(t, whole, want, lost)
		shuffled := slices.Clone(rows)
		r.Shuffle(len(rows), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		var parts [][]byte
		for part := range slices.Chunk(shuffled, 1+r.IntN(200)) {
			parts = append(parts, countScores(tr, part, most).Encode())
		}
		merged := countScores(tr, nil, most)
		for _, b := range parts {
			if err := merged.Merge(b); err != nil {
				t.Fatal(err)
			}
		}
		without, err := tree.MergeScoreCounts(parts)
		if err != nil || !bytes.Equal(merged.Encode(), whole.Encode()) || !bytes.Equal(without, whole.Encode()) {
			t.Errorf("seed %d: merged from %d parts, the bytes differ (%v)", seed, len(parts), err)
		}
	}
	if !levels[0] || !levels[64] || len(levels) < 6 {
		t.Errorf("levels %v: the test shows little", levels)
	}
}

// checkScores compares counts with the counts by the definition.
func checkScores(t *testing.T, c *tree.ScoreCounts, want []tree.ScoreCount, lost int) {
	t.Helper()
	got := c.Modelled()
	if len(got) != len(want) {
		t.Fatalf("%d distinct predictions, want %d", len(got), len(want))
	}
	for i := range got {
		a, b := &got[i], &want[i]
		if a.Leaf != b.Leaf || a.Class != b.Class || a.Rows != b.Rows || !slices.Equal(a.Weights, b.Weights) {
			t.Fatalf("%+v, want %+v", a, b)
		}
		sum := 0.0
		for k, p := range a.Probabilities {
			if sum += p; math.Abs(p-b.Probabilities[k]) > 2e-6*p || lost == 0 && p != b.Probabilities[k] {
				t.Fatalf("probabilities %v, want %v", a.Probabilities, b.Probabilities)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities %v of sum %v", a.Probabilities, sum)
		}
	}
}

// TestScoreCountsPlain: the counts of a tree without models are the leaf counts.
func TestScoreCountsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	tr := grownTree(r, split.Both, 200, numericFeatures())
	rows := scoredRows(t, r, tr, 300)
	leaves := tr.NewLeafCounts()
	for _, v := range rows {
		leaves.Rows[v.leaf]++
		leaves.Weights[v.leaf][v.class] += v.weight
	}
	if c := countScores(tr, rows, 1); gocmp.Diff(leaves, c.Plain()) != "" || len(c.Modelled()) > 0 || c.LostBits() > 0 {
		t.Errorf("%d distinct predictions, %s", len(c.Modelled()), gocmp.Diff(leaves, c.Plain()))
	}
}

// TestScoreCountsErrors: no bytes panic, and bytes that are cut short or of another tree
// are refused.
func TestScoreCountsErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 1))
	tr := withModels(r, grownTree(r, split.Both, 30, numericFeatures()), 1, 3)
	other := withModels(r, grownTree(r, split.Both, 60, numericFeatures()), .5, 3)
	b := countScores(tr, scoredRows(t, r, tr, 50), 1000).Encode()
	if err := other.NewScoreCounts().Merge(b); err == nil {
		t.Error("counts of another tree are taken")
	}
	for n := range b {
		if _, err := tree.MergeScoreCounts([][]byte{b[:n], b[:n]}); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
	for range 2000 {
		broken := slices.Clone(b)
		broken[r.IntN(len(broken))] = byte(r.IntN(256))
		_ = tr.NewScoreCounts().Merge(broken)                     // either way
		_, _ = tree.MergeScoreCounts([][]byte{broken, b, broken}) // either way
	}
}

// BenchmarkScoreCounts counts rows with as many distinct predictions, in a table with and
// without room for all.
func BenchmarkScoreCounts(b *testing.B) {
	r := rand.New(rand.NewPCG(45, 1))
	tr := withModels(r, grownTree(r, split.Both, 300, numericFeatures()), 1, 6)
	scorer := tr.Scorer()
	const n = 1 << 17
	columns := make([][]any, len(tr.Features))
	for range n {
		v := randomRow(r, tr.Features)
		for f := range columns {
			columns[f] = append(columns[f], v[f])
		}
	}
	var vectors []dataset.Vector
	for _, in := range scorer.Features() {
		vectors = append(vectors, vectorOf(columns[in.Feature], in.Kind))
	}
	var scores tree.Scores
	if err := scorer.Score(vectors, n, &scores); err != nil {
		b.Fatal(err)
	}
	for name, most := range map[string]int{"exact": n, "rounded": 1 << 12} {
		b.Run("table="+name, func(b *testing.B) {
			for b.Loop() {
				c := tr.NewScoreCounts()
				c.Bound(most)
				for i := range n {
					c.Count(&scores, i, i%3, 1, 1)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
