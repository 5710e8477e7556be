package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// PredictResult is the result of a scoring.
type PredictResult struct {
	Tree    *tree.Tree
	Also    []runfolder.AlsoScored // further trees
	Rows    int64
	Columns []runfolder.ColumnNovelty // columns of the features that the tree tests
	Scores  *runfolder.PredictedScores
	Metrics *runfolder.Metrics // nil: the rows have no label
	Files   []string           // files of predictions
	Beside  []string           // files of metrics and manifest, and the mark of success

	Run      string // URL of the folder of the tree's run
	Folder   string // --output, of the day
	Date     string // day; empty: none
	Repeated bool   // whether the day has been published before, from the same tree, files and settings
}

// Predict scores the rows of Parquet files by a tree, and writes a file of
// predictions for each.
func Predict(ctx context.Context, c config.Predict, reporter engine.Reporter) (r *PredictResult, err error) {
	start := time.Now()
	others := []*string{&c.Model, &c.Output}
	for i := range c.Also {
		others = append(others, &c.Also[i])
	}
	setup := session.Setup{
		Check: c.Validate, Runner: c.Runner, Input: &c.Input, Others: others,
		Storage: c.StorageConfig, Engine: c.EngineConfig,
	}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		day, err := openDay(ctx, s, &c, start)
		if err != nil {
			return err
		}
		p, err := newPrediction(ctx, s, &c, day)
		if err != nil {
			return err
		}
		return s.Locked(ctx, c.Output, func(ctx context.Context) error {
			r, err = p.run(ctx, start)
			return err
		})
	})
	return r, err
}

// prediction is one scoring of files.
type prediction struct {
	*session.Session

	config *config.Predict
	trees  jobs.Trees        // of --model, then of --also
	tree   *tree.Tree        // the first one
	model  string            // URL of its tree.json
	stamps []runfolder.Stamp // by tree
	input  *source.Input
	spec   *jobs.RowSpec
	slices []dataset.FeatureColumn // columns of --slice
	paths  [][]string              // by tree and leaf: its path as text; nil: not wanted
	output *runfolder.Folder
	names  []string      // names of the outputs, by input file
	scored bool          // whether all outputs are written
	day    *predictedDay // nil: none
}

func newPrediction(ctx context.Context, s *session.Session, c *config.Predict, day *predictedDay) (*prediction, error) {
	p := &prediction{Session: s, config: c, day: day}
	err := p.openTrees(ctx)
	if err != nil {
		return nil, err
	}
	if p.input, err = p.OpenInput(ctx, c.Input); err != nil {
		return nil, err
	}
	if p.input.Rows < c.MinRows {
		return nil, &dataset.DataError{
			File: p.input.Files[0].URL, Problem: fmt.Sprintf("all files together have %d rows, expected at least %d (--min_rows)",
				p.input.Rows, c.MinRows), Hint: "run again when all files have come, or lower --min_rows",
		}
	}
	label := c.Label
	weight := c.Weight
	switch {
	case label == config.LabelNone || label == "" && !slices.Contains(p.input.Names(), p.tree.Label.Column):
		label = ""
		weight = ""
	case label == "":
		label = p.tree.Label.Column
	}
	if err = p.specify(label, weight); err != nil {
		return nil, err
	}
	for _, t := range p.trees.Decoded {
		if err := source.WarnOfColumns(ctx, p.Files, p.Reporter.Warn, p.input, t); err != nil {
			return nil, err
		}
	}
	if label == "" && len(c.Slice) > 0 {
		return nil, usage.Errorf("--slice %s: the rows have no label to measure the tree by: name its column by --label, "+
			"or leave --slice out", strings.Join(c.Slice, ","))
	}
	if p.slices, err = slicing.Columns(p.input, c.Slice, label, slicing.KindFor(p.tree)); err != nil {
		return nil, err
	}
	if err := p.checkCopied(); err != nil {
		return nil, err
	}
	if err := p.nameOutputs(); err != nil || day == nil {
		return p, err
	}
	return p, day.settle(ctx, c, p.stamps)
}

// specify says how the rows of the input are read. Rows without a label are scored, not measured.
func (p *prediction) specify(label, weight string) (err error) {
	if p.spec, err = source.ScoringSpec(p.input, p.tree, label, weight, "", p.trees.Decoded[1:]...); err == nil {
		p.spec.DropNullLabels = true
	}
	return err
}

// checkCopied lists the columns to copy. It refuses a column that is missing in a file, and
// a column with the name of a column of the predictions.
func (p *prediction) checkCopied() error {
	taken := make(map[string]bool)
	for n, t := range p.trees.Decoded {
		var paths []string
		if p.paths != nil {
			paths = p.paths[n]
		}
		for _, c := range jobs.PredictionColumns(n, t, paths) {
			taken[c.Name] = true
		}
	}
	if p.config.Keep == config.KeepAll {
		var clashing []string
		p.config.Key = slices.DeleteFunc(p.input.Names(), func(name string) bool {
			if taken[name] {
				clashing = append(clashing, name)
			}
			return taken[name]
		})
		if len(clashing) > 0 {
			p.Reporter.Warn(fmt.Sprintf("--keep all: the columns %q of the input have names of columns of the predictions, and are not "+
				"written next to them: rename them in the input to keep them; the order of the rows is the same", clashing))
		}
	}
	for i, name := range p.config.Key {
		switch {
		case taken[name]:
			return usage.Errorf("column %q is to be copied and has the name of one of the predictions': "+
				"leave it out of --key", name)
		case slices.Contains(p.config.Key[:i], name):
			return usage.Errorf("--key names the column %q twice", name)
		case !slices.Contains(p.input.Names(), name):
			return source.UnknownColumn("key", name, p.input.Names())
		}
		if err := p.input.CheckThere(name); err != nil {
			return dataset.ReplaceHint(err, "add it, or name the columns that all files have by --key, without --keep all")
		}
	}
	return nil
}

// nameOutputs gives the predictions of each file the path of that file below its folder.
func (p *prediction) nameOutputs() error {
	seen := make(map[string]string)
	for i, file := range p.input.Files {
		name := p.input.Below[i]
		switch other, ok := seen[name]; {
		case ok:
			return usage.Errorf("--input: %s and %s would both become %s: score them one after the other, "+
				"into folders of their own", other, file.URL, name)
		case naming.CheckBelow(name) != nil: // --overwrite would refuse it in the manifest
			return usage.Errorf("--input: the predictions of %s would have the name %q: rename the file, expected a name without "+
				"backslashes", file.URL, name)
		case runfolder.Predictions.Reserves(name):
			return usage.Errorf("--input: the predictions of %s would have the name of the %s next to them: "+
				"rename the file", file.URL, name)
		}
		seen[name] = file.URL
		p.names = append(p.names, name)
		output, err := p.Files.Store.Identity(objectstore.Join(p.config.Output, name))
		if err != nil {
			return usage.Errorf("--output: %v", err)
		}
		if input, err := p.Files.Store.Identity(file.URL); err != nil || input == output {
			return usage.Errorf("--output %s: the predictions of %s would replace it: choose another folder",
				p.config.Output, file.URL)
		}
	}
	return nil
}

// scratchInOutput is the folder of the data that an engine's workers exchange.
const scratchInOutput = "_scratch"

// clear opens the folder of the predictions, and makes room for the new ones. Finished predictions that are to be
// replaced stay until the new ones are whole. It returns earlier predictions of the day that stay.
func (p *prediction) clear(ctx context.Context, start time.Time) (*PredictResult, error) {
	names := p.names
	if !p.Local() {
		names = append(slices.Clone(names), objectstore.Join(scratchInOutput, p.ID()))
	}
	c := p.config
	var err error
	p.output, err = runfolder.Open(ctx, p.Files.Store, c.Output, runfolder.Predictions, c.Overwrite || p.day != nil, names...)
	if err != nil {
		return nil, err
	}
	reads := p.input.Reads()
	for n, url := range p.trees.URLs {
		reads = append(reads, runfolder.Reading{Flag: modelFlag(n), URL: url})
	}
	if err := p.output.ProtectInputs(reads); err != nil {
		return nil, err
	}
	if err := p.output.Settle(ctx); err != nil {
		return nil, err
	}
	if p.day != nil {
		if done, err := p.published(ctx); done != nil || err != nil {
			return done, err
		}
	}
	var expected []string
	if p.spec.Label != "" {
		expected = append(expected, runfolder.DataMetricsName)
	}
	return nil, p.output.Begin(ctx, p.ID(), start, p.names, expected...)
}

// run scores the rows.
func (p *prediction) run(ctx context.Context, start time.Time) (*PredictResult, error) {
	if done, err := p.clear(ctx, start); done != nil || err != nil {
		return done, err
	}
	r, err := p.score(ctx)
	if err == nil && p.day != nil {
		err = p.day.Unchanged(ctx, p.Files)
	}
	if err == nil {
		// Phase waits even if ctx has ended: the work itself watches ctx, and leaves no half-written folder.
		write := func(*parallel.Steps) error { return p.commit(ctx, r, start) }
		err = p.Phase(context.WithoutCancel(ctx), engine.Write, 1, "folder", write)
	}
	if err != nil {
		p.sweep(ctx)
		p.undo(context.WithoutCancel(ctx))
		return nil, err
	}
	return r, nil
}

func (p *prediction) score(ctx context.Context) (*PredictResult, error) {
	scratch := p.Temporary
	if !p.Local() { // its workers do not see this process's memory
		scratch = objectstore.Join(p.config.Output, scratchInOutput, p.ID())
		p.Scratch = scratch
		defer func() {
			_ = p.Files.Store.RemoveAll(context.WithoutCancel(ctx), scratch)                  // scratch
			_ = p.Files.Store.RemoveEmpty(objectstore.Join(p.config.Output, scratchInOutput)) // scratch
		}()
	}
	k := contracts.Checker{
		Settings: &p.config.Contract, Driver: p.Driver, Scratch: scratch, KeepRows: true,
		Lax: []string{contract.RoleLabel, contract.RoleKey, contract.RoleWeight, contract.RoleCount},
	}
	var err error
	if p.input, err = k.Enforce(ctx, p.input); err != nil {
		return nil, err
	}
	if err := p.specify(p.spec.Label, p.spec.Weight); err != nil { // the contract says how texts are read
		return nil, err
	}
	if err := p.CountWeights(ctx, p.input.Tasks, scratch, p.spec); err != nil {
		return nil, err
	}
	slicer, err := scoringSlicer(ctx, p.Driver, p.input, scratch, p.slices, p.spec)
	if err != nil {
		return nil, err
	}
	all, err := predictJob(ctx, p.Driver, p.tasks(), "predict", p.predictConfig(scratch))
	if err != nil {
		return nil, err
	}
	p.scored = true
	counted := all[0]
	r := &PredictResult{Tree: p.tree, Run: runfolder.FolderOf(p.model), Folder: p.config.Output, Rows: counted.Rows, Columns: source.Novelties(p.tree, counted.Novelty, counted.Rows)}
	r.Scores = predictedScores(p.tree, counted)
	source.WarnOfNovelty(p.Reporter.Warn, p.tree, r.Columns, r.Rows)
	if err := p.checkNovelty(r); err != nil {
		return nil, err
	}
	r.Also = p.alsoScored(all)
	if p.spec.Label != "" {
		if err := countStrata(ctx, p.Session, p.input, scratch, p.tree, p.model, p.spec, counted.Scores); err != nil {
			return nil, err
		}
		r.Metrics = newPredictedMetrics(p.tree, counted, p.spec)
		warnOfUnfounded(p.Reporter.Warn, p.tree, counted.Scores)
		if err := warnOfOtherClasses(p.Reporter.Warn, counted.OtherClass, measuredRows(r.Metrics), p.spec.Label, p.tree); err != nil {
			p.Reporter.Warn(err.Error()) // the rows are scored all the same
		}
		warnOfTraining(ctx, p.Session, p.model, p.input)
		if r.Metrics.Test == nil {
			r.Metrics = nil
		}
	}
	if slicer != nil && r.Metrics != nil {
		return r, slicer.Measure(ctx, p.tree, p.spec, r.Metrics)
	}
	return r, nil
}

// sweepWithin limits the time for removing temporary files after an interrupt. The next run
// with the same output folder removes the remaining files.
const sweepWithin = 300 * time.Millisecond

// sweep removes the temporary files of an interrupted run whose workers may still be running.
func (p *prediction) sweep(ctx context.Context) {
	if ctx.Err() == nil || !p.Local() {
		return
	}
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWithin)
	defer cancel()
	_ = p.Files.Store.Sweep(soon, p.config.Output) // the interrupt is more useful
}

// undo removes unfinished predictions and the claim. Files that the workers of an engine may
// have written stay, and so does the claim: a run with --overwrite replaces them.
func (p *prediction) undo(ctx context.Context) {
	if !p.output.Replaces() && !p.output.HoldsClaim(ctx) { // another run has taken the folder over
		return
	}
	p.Files.Committing.Lock() // workers that are still running end first
	defer p.Files.Committing.Unlock()
	if p.output.Replaces() {
		p.output.Undo(ctx, nil)
		return
	}
	left := false
	for _, name := range p.names {
		url := p.output.File(name)
		_, own := p.Files.Predicted.LoadAndDelete(url)
		switch {
		case own || p.scored:
			err := p.Files.Store.Remove(ctx, url)
			left = left || err != nil && !errors.Is(err, fs.ErrNotExist)
		case !p.Local():
			_, err := p.Files.Store.Stat(ctx, url)
			left = left || !errors.Is(err, fs.ErrNotExist)
		}
	}
	if left {
		p.Reporter.Warn(fmt.Sprintf(
			"unfinished predictions stay in %s: replace them with --overwrite", p.config.Output))
		return
	}
	_ = p.output.RemoveClaim(ctx) // the first error is more useful
}

// tasks returns a task for each file.
func (p *prediction) tasks() []jobs.Task {
	var tasks []jobs.Task
	for i, file := range p.input.Files {
		task := p.input.TaskOf(i)
		task.RowGroups, task.Output, task.Repeated = file.RowGroups(), p.output.RowFile(p.names[i]), !p.Local()
		tasks = append(tasks, task)
	}
	return tasks
}

func (p *prediction) predictConfig(scratch string) jobs.PredictConfig {
	return jobs.PredictConfig{
		ScoreConfig: jobs.ScoreConfig{
			Config: p.JobConfig(scratch), Trees: p.trees,
			Rows: p.spec.Encode(), Pieces: engine.Pieces(p.Workers(), len(p.input.Files)),
		},
		Copied: p.config.Key, Paths: p.paths, Metadata: p.metadata(),
	}
}

// predictJob runs a job that scores the rows of tasks. It returns the counts by tree.
func predictJob(
	ctx context.Context, j *engine.Driver, tasks []jobs.Task, name string, c jobs.PredictConfig,
) ([]*jobs.Predicted, error) {
	groups := int64(0)
	for _, task := range tasks {
		groups += int64(max(1, task.RowGroups))
	}
	what := engine.Job{Name: name, Total: groups, Unit: "row groups", Done: engine.TasksDone}
	err := j.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Predict(s, tasks, c)
	})
	if err != nil {
		return nil, err
	}
	return jobs.ReadPredicted(ctx, &c, c.Trees.Decoded...)
}

// predictedScores returns the means of the counts of a scoring.
func predictedScores(t *tree.Tree, p *jobs.Predicted) *runfolder.PredictedScores {
	rows := float64(max(p.Rows, 1))
	s := &runfolder.PredictedScores{Cost: p.Cost / rows}
	for k, class := range p.Classes {
		s.Classes = append(s.Classes, runfolder.PredictedClass{
			Class: t.Label.Classes[k], Share: float64(class.Rows) / rows, Probability: class.Probability / rows,
		})
	}
	return s
}

// worstColumn returns the column with most new values.
func worstColumn(columns []runfolder.ColumnNovelty) runfolder.ColumnNovelty {
	columns = append([]runfolder.ColumnNovelty{{}}, columns...) // a tree may test no feature
	return slices.MaxFunc(columns, func(a, b runfolder.ColumnNovelty) int { return cmp.Compare(a.New(), b.New()) })
}

// checkNovelty fails if too many rows have a value that training did not have.
func (p *prediction) checkNovelty(r *PredictResult) error {
	worst := worstColumn(r.Columns)
	fresh := worst.New()
	if float64(fresh) <= p.config.MaxUnseen*float64(r.Rows) {
		return nil
	}
	return &dataset.DataError{
		File: p.input.Files[0].URL, Column: worst.Column,
		Problem: fmt.Sprintf("%d of %d rows (in all files) have a value that training did not have, or none where training "+
			"rows had one: more than --max_unseen %v; nothing was published", fresh, r.Rows, p.config.MaxUnseen),
		Hint: "check whether the column means what it meant, or train again",
	}
}

// commit writes the metrics and the manifest, then the mark of success.
func (p *prediction) commit(ctx context.Context, r *PredictResult, start time.Time) error {
	manifest := runfolder.PredictionsManifest{
		Format: runfolder.PredictionsFormat, Version: 1, Espalier: runfolder.Version(), Started: start.UTC(),
		Seconds: time.Since(start).Seconds(), Config: p.config, Digest: p.stamps[0].Digest, Tree: p.model,
		Inputs: p.input.Manifest(), Outputs: p.names, Timings: p.Timings, Rows: r.Rows, Columns: r.Columns, Scores: r.Scores,
		Also: r.Also,
	}
	if p.day != nil {
		r.Date = p.day.date
		manifest.Date = p.day.date
		manifest.InputsDigest = p.day.digest
	} else {
		for i, name := range p.names { // the last date in both paths
			manifest.Days = append(manifest.Days, runfolder.DateIn(p.input.Files[i].URL+"/"+p.output.File(name)))
		}
	}
	urls, err := p.output.Write(ctx, &runfolder.Run{Rows: p.names, Metrics: r.Metrics, Predictions: &manifest})
	for _, name := range p.names {
		r.Files = append(r.Files, p.output.File(name))
		p.Files.Predicted.Delete(p.output.RowFile(name))
	}
	r.Beside = urls
	return err
}
