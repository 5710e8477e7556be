package benchmark

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Result is the result of a benchmark.
type Result struct {
	Splits      []*Split     `json:"splits"`
	Means       []Summary    `json:"means"`
	Comparisons []Comparison `json:"comparisons"`
	Published   []Published  `json:"published,omitempty"`
	Scaling     []Scaling    `json:"scaling,omitempty"`
	Files       []string     `json:"-"` // URLs of the tables
	Pictures    int          `json:"-"` // number
}

// The files and folders of a benchmark.
const (
	tablesName  = "tables.md"
	latexName   = "tables.tex"
	meansName   = "means.csv"
	resultsName = "results.json"

	publishedName      = "published.md"
	publishedTableName = "published.csv"

	splitsFolder   = "splits"
	costsFolder    = "costs"
	scalingFolder  = "scaling"
	picturesFolder = "pictures"
)

// Run runs the experiments on all data sets, and writes their tables.
func Run(ctx context.Context, c Config, reporter engine.Reporter) (r *Result, err error) {
	defer func() { err = engine.OrInterrupted(ctx, err) }()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := checkControl(&c); err != nil {
		return nil, err
	}
	f := source.Begin(c.StorageConfig)
	defer f.End()
	sets, err := findSets(ctx, f.Store, c.Folder, c.Label, c.Sets)
	if err != nil {
		return nil, err
	}
	if err := checkOutput(ctx, f.Store, c.Output); err != nil {
		return nil, err
	}
	if err := checkLabels(ctx, f, sets); err != nil {
		return nil, err
	}
	published, err := readPublished(ctx, f.Store, &c)
	if err != nil {
		return nil, err
	}
	var list []work
	for i := range sets {
		for seed := range c.Splits {
			list = append(list, work{config: &c, files: f, set: &sets[i], seed: uint64(seed + 1)})
		}
	}
	r = new(Result)
	if r.Splits, err = runAll(ctx, list, int(c.AtOnce), engine.OneAtATime(reporter)); err != nil {
		return nil, err
	}
	for _, s := range r.Splits {
		s.keep(c.Algorithm)
	}
	r.Means = summarise(r.Splits, c.Algorithm)
	r.Comparisons = compareAll(r.Means, &c)
	r.Published = hold(r.Splits, sets, published, c.Algorithm)
	if r.Scaling, err = scale(ctx, &c, f, sets, r.Splits); err != nil {
		return nil, err
	}
	return r, r.write(ctx, f.Store, &c)
}

// runAll runs the splits, several at the same time. After the first error no other split begins.
func runAll(ctx context.Context, list []work, atOnce int, reporter engine.Reporter) ([]*Split, error) {
	reporter.Job("benchmark", int64(len(list)), "splits")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	splits := make([]*Split, len(list))
	ended := make(chan string, len(list))
	slots := make(chan struct{}, atOnce)
	var wg parallel.Group
	wg.Go(func() {
		for done := range list {
			reporter.Step(int64(done+1), <-ended)
		}
	})
	for i := range list {
		slots <- struct{}{}
		w := &list[i]
		wg.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				var err error
				if splits[i], err = w.split(ctx); err != nil {
					cancel(err)
				}
			}
			ended <- fmt.Sprintf("%s, split %d", w.set.name, w.seed)
		})
	}
	wg.Wait()
	return splits, context.Cause(ctx)
}

// checkOutput refuses a folder with files that are no benchmark's.
func checkOutput(ctx context.Context, s *objectstore.Store, output string) error {
	there, err := entries(ctx, s, output)
	if err != nil {
		return usage.Errorf("--output: %v", err)
	}
	known := []string{
		splitsFolder, costsFolder, scalingFolder, picturesFolder, tablesName, latexName, meansName, resultsName,
		publishedName, publishedTableName,
	}
	for _, o := range there {
		if !slices.Contains(known, cmp.Or(o.parent, path.Base(o.URL))) {
			return usage.Errorf("--output %s has files that are no benchmark's, such as %s: name another folder",
				output, o.URL)
		}
	}
	return nil
}

// file is a file of the results.
type file struct {
	name  string
	bytes []byte
}

// splits returns the number of splits of each data set.
func (r *Result) splits() int { return r.Means[0].Splits }

// write writes the tables.
func (r *Result) write(ctx context.Context, s *objectstore.Store, c *Config) error {
	results, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	files := []file{
		{tablesName, markdown(r, c.Algorithm)},
		{latexName, latex(r, c.Algorithm)},
		{meansName, meansCSV(r.Means)},
		{resultsName, append(results, '\n')},
	}
	if len(r.Published) > 0 {
		files = append(files, file{publishedName, publishedMarkdown(r.Published, r.splits())},
			file{publishedTableName, publishedCSV(r.Published)})
	}
	pictures, err := r.pictures(c)
	if err != nil {
		return err
	}
	for _, file := range append(files, pictures...) {
		url := objectstore.Join(c.Output, file.name)
		if err := s.Put(ctx, url, file.bytes, objectstore.WriteOptions{}); err != nil {
			return err
		}
		if path.Dir(file.name) == picturesFolder {
			r.Pictures++
			continue
		}
		r.Files = append(r.Files, url)
	}
	return nil
}
