package benchmark

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// ScalingFormat identifies the times of a scaling experiment.
const ScalingFormat = "espalier/benchmark-scaling-3"

// Scaling has the times of an algorithm on growing parts of a data set.
type Scaling struct {
	Format    string      `json:"format"`
	Espalier  string      `json:"espalier"` // version
	Files     []string    `json:"files"`    // with their generations
	By        string      `json:"by"`       // ByRows or ByFeatures
	Set       string      `json:"set"`
	Algorithm string      `json:"algorithm"`
	Times     []TimeTaken `json:"times"` // by ascending size

	// Start is the fixed cost of a run: the time of a run on startShare of the size. 0: the data set is too
	// small for such a run.
	Start float64 `json:"start_seconds"`

	Fit         // fit to all seconds
	Rest    Fit `json:"without_start"` // fit to the seconds minus Start
	Objects Fit `json:"objects"`       // fit to the distinct training rows

	Line    Line `json:"line"`             // through the seconds
	Growing Fit  `json:"without_constant"` // fit to the seconds minus the constant of the line
}

// Line is a straight line through the seconds by size: the line with the least sum of squared
// differences, as shares of the seconds, that does not begin below 0.
type Line struct {
	Constant  float64 `json:"constant_seconds"`
	Each      float64 `json:"seconds_each"`      // for a row or a feature
	Deviation float64 `json:"largest_deviation"` // greatest deviation of the seconds of a size, as a share of the line's value
}

// Fit is the slope of a logarithm over that of sizes, by least squares, with the ends of its 95 %
// interval. 1 is growth in proportion.
type Fit struct {
	Slope float64 `json:"slope"`
	Low   float64 `json:"slope_low"`
	High  float64 `json:"slope_high"`
}

// TimeTaken is the time of one size, the least of five runs.
type TimeTaken struct {
	Size    int64   `json:"size"`    // rows or features
	Seconds float64 `json:"seconds"` // of processors
	Objects int64   `json:"objects"` // distinct training rows
}

// What grows in a scaling experiment.
const (
	ByRows     = "rows"
	ByFeatures = "features"
)

// scalingShares is the number of sizes: each is twice the one before. There are fewer of data sets so
// small that a size has less than leastSize rows.
const (
	scalingShares = 7
	leastSize     = 32
)

// startShare is the share of the rows or features in the run that tells the fixed cost.
const startShare = 1.0 / 2048

// scale runs the scaling experiments: by rows on the data set with most rows, by features on the one
// with most features. No split is in work then.
func scale(ctx context.Context, c *Config, f *source.Files, sets []dataSet, splits []*Split) ([]Scaling, error) {
	if !c.Scaling {
		return nil, nil
	}
	largest := func(size func(s *Split) int64) *work {
		most := slices.MaxFunc(splits, func(a, b *Split) int { return cmp.Compare(size(a), size(b)) })
		at := slices.IndexFunc(sets, func(d dataSet) bool { return d.name == most.Set })
		return &work{config: c, files: f, set: &sets[at], seed: 1}
	}
	rows := largest(func(s *Split) int64 { return s.Rows })
	features := largest(func(s *Split) int64 { return int64(s.Features) })
	var list []Scaling
	for _, algorithm := range []string{"c45", "ec45"} {
		if !slices.Contains(c.Algorithm, algorithm) {
			continue
		}
		for by, w := range map[string]*work{ByRows: rows, ByFeatures: features} {
			one, err := w.scale(ctx, by, algorithm)
			if err != nil {
				return nil, fmt.Errorf("%s, time against %s: %w", w.set.name, by, err)
			}
			if len(one.Times) > 2 {
				list = append(list, *one)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Scaling) int { return cmp.Compare(b.By, a.By) })
	return list, nil
}

// scale returns the times of a data set: the times of an earlier run, if there are any.
func (w *work) scale(ctx context.Context, by, algorithm string) (*Scaling, error) {
	s := &Scaling{
		Format: ScalingFormat, Espalier: runfolder.Version(), Files: w.generations(), By: by, Set: w.set.name,
		Algorithm: algorithm,
	}
	url := objectstore.Join(w.config.Output, scalingFolder, by+"-"+algorithm+".json")
	const limit = 1 << 20
	b, err := w.files.Store.ReadAll(ctx, url, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	earlier := new(Scaling)
	if err == nil && json.Unmarshal(b, earlier) == nil && earlier.Format == s.Format && earlier.Espalier == s.Espalier &&
		earlier.Set == s.Set && slices.Equal(earlier.Files, s.Files) {
		return earlier, nil
	}
	if err := w.measure(ctx, s); err != nil {
		return nil, err
	}
	if b, err = json.MarshalIndent(s, "", "  "); err != nil {
		return nil, err
	}
	return s, w.files.Store.Put(ctx, url, append(b, '\n'), objectstore.WriteOptions{})
}

// measure takes the times, and fits their slope.
func (w *work) measure(ctx context.Context, s *Scaling) error {
	in, err := source.OpenInput(ctx, w.files, w.set.urls(), new(parallel.Steps))
	if err != nil {
		return err
	}
	e := experiment{work: w, scaling: s, input: in, scratch: "mem://espalier-" + rand.Text()}
	defer w.files.Store.RemoveAll(context.WithoutCancel(ctx), e.scratch) //nolint:errcheck // scratch in memory
	for _, share := range powersOfTwo(scalingShares) {
		if s.By == ByRows && float64(share*float64(in.Rows)) < leastSize {
			continue
		}
		taken, err := e.take(ctx, share)
		if err != nil {
			return err
		}
		if n := len(s.Times); n == 0 || s.Times[n-1].Size < taken.Size { // with few features there are fewer sizes
			s.Times = append(s.Times, taken)
		}
	}
	if len(s.Times) < scalingShares {
		s.fit()
		return nil
	}
	share := startShare
	if s.By == ByRows {
		share = max(share, leastSize/float64(in.Rows))
	}
	taken, err := e.take(ctx, share)
	s.Start = taken.Seconds
	s.fit()
	return err
}

// experiment takes the times of parts of a data set.
type experiment struct {
	work    *work
	scaling *Scaling
	input   *source.Input
	scratch string // folder
}

// take takes the time of a share of the rows or of the features.
func (e *experiment) take(ctx context.Context, share float64) (taken TimeTaken, err error) {
	w := e.work
	url := objectstore.Join(e.scratch, "rows.parquet")
	t, err := presetConfig(w.config, w.set, &Split{Seed: w.seed, Rows: e.input.Rows}, "paper")
	if err != nil {
		return taken, err
	}
	t.Algorithm, t.Output = parsed([]string{e.scaling.Algorithm}), objectstore.Join(e.scratch, "unused")
	if e.scaling.By == ByRows {
		t.Input = []string{url}
		if taken.Size, err = writeSubset(ctx, w.files.Store, e.input, share, url); err != nil {
			return taken, err
		}
	} else {
		t.Ignore, taken.Size = otherFeatures(e.input.Names(), w.set.label, share)
	}
	taken.Seconds, taken.Objects, err = leastTime(ctx, t)
	return taken, err
}

// leastTime returns the least time of processors of five growths, from the files to the counted
// leaves, and the number of training objects.
func leastTime(ctx context.Context, t config.Train) (least float64, objects int64, err error) {
	least = math.Inf(1)
	for range 5 {
		start := processorTime()
		grown, err := train.GrowAll(ctx, t, []string{""}, engine.Silent{})
		if err != nil {
			return 0, 0, err
		}
		least = min(least, (processorTime() - start).Seconds())
		objects = grown[0].Candidates[0].Tree.Training.Objects
	}
	return least, objects, nil
}

// otherFeatures returns the features beyond a share of them, and the number of those within it. Which
// ones depends on their names alone.
func otherFeatures(names []string, label string, share float64) (others []string, size int64) {
	features := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == label })
	slices.SortStableFunc(features, func(a, b string) int {
		return cmp.Compare(dataset.HashText(1, a), dataset.HashText(1, b))
	})
	kept := max(1, int(math.Round(float64(share*float64(len(features))))))
	return features[kept:], int64(kept)
}

// fit fits the slopes, if there are enough sizes.
func (s *Scaling) fit() {
	if len(s.Times) < 3 {
		return
	}
	s.Fit = s.fitted(func(t *TimeTaken) float64 { return t.Seconds })
	s.Rest = s.fitted(func(t *TimeTaken) float64 { return t.Seconds - s.Start })
	s.Objects = s.fitted(func(t *TimeTaken) float64 { return float64(t.Objects) })
	s.Line = s.straight()
	s.Growing = s.fitted(func(t *TimeTaken) float64 { return t.Seconds - s.Line.Constant })
}

// straight fits the straight line.
func (s *Scaling) straight() (l Line) {
	var x, y, weights []float64
	for _, t := range s.Times {
		x, y = append(x, float64(t.Size)), append(y, t.Seconds)
		weights = append(weights, 1/float64(t.Seconds*t.Seconds))
	}
	if l.Constant, l.Each = stat.LinearRegression(x, y, weights, false); l.Constant < 0 {
		l.Constant, l.Each = stat.LinearRegression(x, y, weights, true)
	}
	for i := range x {
		l.Deviation = max(l.Deviation, math.Abs(y[i]/(l.Constant+float64(l.Each*x[i]))-1))
	}
	return l
}

// fitted fits the slope of the logarithm of a figure that is above 0.
func (s *Scaling) fitted(of func(t *TimeTaken) float64) (f Fit) {
	var x, y []float64
	for i := range s.Times {
		if figure := of(&s.Times[i]); figure > 0 {
			x, y = append(x, portable.Log(float64(s.Times[i].Size))), append(y, portable.Log(figure))
		}
	}
	if len(x) < 3 {
		return f
	}
	at, slope := stat.LinearRegression(x, y, nil, false)
	free := float64(len(x) - 2) // degrees of freedom
	residuals := 0.0
	for i := range x {
		d := y[i] - at - float64(slope*x[i])
		residuals += float64(d * d)
	}
	spread := float64(stat.Variance(x, nil) * float64(len(x)-1))
	half := float64(distuv.StudentsT{Sigma: 1, Nu: free}.Quantile(0.975) * math.Sqrt(residuals/free/spread))
	return Fit{slope, slope - half, slope + half}
}

// line returns the fitted seconds without the start, at the ends of the sizes.
func (s *Scaling) line() [2]TimeTaken {
	sum := 0.0
	n := 0
	first := s.Times[0].Size
	last := s.Times[len(s.Times)-1].Size
	for _, t := range s.Times {
		if rest := t.Seconds - s.Start; rest > 0 {
			sum, n = sum+portable.Log(rest)-float64(s.Rest.Slope*portable.Log(float64(t.Size))), n+1
		}
	}
	at := func(size int64) TimeTaken {
		seconds := portable.Exp(sum/float64(n) + float64(s.Rest.Slope*portable.Log(float64(size))))
		return TimeTaken{Size: size, Seconds: seconds}
	}
	return [2]TimeTaken{at(first), at(last)}
}
