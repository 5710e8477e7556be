package pipelines

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Drift measures how far the rows of Parquet files, and the leaves that they reach, have moved from
// the training rows of a run.
func Drift(ctx context.Context, c config.Drift, reporter engine.Reporter) (r *runfolder.Drift, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		run, err := latest.Resolve(ctx, s.Files.Store, c.Model)
		if err != nil {
			return err
		}
		there, err := ReadDistribution(ctx, s.Files.Store, "--model", trainAgain, run)
		if err != nil {
			return err
		}
		if c.Against != "" {
			r, err = driftBetween(ctx, s.Files.Store, &c, run, there)
		} else {
			r, err = driftOfRows(ctx, s, &c, run, there)
		}
		return err
	})
	return r, err
}

// trainAgain is what a person may do where a run has no distribution.json.
const trainAgain = ": train again"

// ReadDistribution reads the documents of a run from which drift is measured, and checks that they fit together. The setting
// that names the run is for errors, and so is the advice for a run without distribution.json.
func ReadDistribution(ctx context.Context, s *objectstore.Store, flag, advice, run string) (*runfolder.Run, error) {
	there, err := runfolder.Read(ctx, s, run, runfolder.Training, runfolder.TreeName, runfolder.SchemaName,
		runfolder.DistributionName, runfolder.ManifestName)
	if err != nil {
		return nil, usage.Errorf("%s %s", flag, err)
	}
	if there.Distribution == nil {
		return nil, usage.Errorf("%s %s has no %s, as an earlier version has trained it%s", flag, run,
			runfolder.DistributionName, advice)
	}
	features := there.Schema.Features()
	for i := range features {
		if n := len(there.Distribution.Of(features[i].Name).Rows); n != features[i].Codes() {
			return nil, usage.Errorf("%s %s: %s has %d bins of %q, %s has %d: the files are of different runs", flag, run,
				runfolder.DistributionName, n, features[i].Name, runfolder.SchemaName, features[i].Codes())
		}
	}
	return there, nil
}

// driftBetween measures the drift of the training rows of another run, by the bins that both runs have.
func driftBetween(
	ctx context.Context, s *objectstore.Store, c *config.Drift, run string, there *runfolder.Run,
) (*runfolder.Drift, error) {
	against, err := latest.Resolve(ctx, s, c.Against)
	if err != nil {
		return nil, err
	}
	other, err := ReadDistribution(ctx, s, "--against", trainAgain, against)
	if err != nil {
		return nil, err
	}
	found := runfolder.NewDriftBetween(run, there, columnsOf(there.Manifest).group(), against, other,
		columnsOf(other.Manifest).group())
	if len(found.Columns) == 0 {
		return nil, usage.Errorf("--against %s: the runs have no bin in common: train with --cuts_from, or measure the rows by "+
			"--input", against)
	}
	found.MarkAsked(there.Tree)
	found.Judge(c.Limits())
	return found, nil
}

// driftOfRows measures the drift of the rows of an input from the training rows of a run.
func driftOfRows(
	ctx context.Context, s *session.Session, c *config.Drift, run string, there *runfolder.Run,
) (*runfolder.Drift, error) {
	in, err := s.Input(ctx, c.Input)
	if err != nil {
		return nil, err
	}
	k := contracts.Checker{
		Settings: &c.Contract, Driver: s.Driver, Scratch: s.Temporary,
		Lax: []string{contract.RoleLabel, contract.RoleWeight, contract.RoleCount, contract.RoleKey},
	}
	if in, err = k.Enforce(ctx, in); err != nil {
		return nil, err
	}
	trained := columnsOf(there.Manifest).group()
	key := cmp.Or(c.Group, trained)
	if known := slices.Contains(in.Names(), key); !known && c.Group != "" {
		return nil, source.UnknownColumn("group", key, in.Names())
	} else if !known && key != "" {
		s.Reporter.Warn(fmt.Sprintf("no input file has the key %q of the run: the rows of a key are taken to have as much in common "+
			"as in training (--group names another column)", key))
		key = ""
	}
	now, rows, err := countBins(ctx, s, run, there, in, key)
	if err != nil {
		return nil, err
	}
	return DriftOfCounts(run, there, rows, now.Nodes, c.Limits())
}

// DriftOfCounts measures the drift of counted rows from the training rows of a run that ReadDistribution has read. nodes
// has the rows by node of its tree.
func DriftOfCounts(
	run string, there *runfolder.Run, rows *runfolder.Compared, nodes []int64, limits drift.Limits,
) (*runfolder.Drift, error) {
	found := runfolder.NewDrift(run, there.Schema.Features(), there.Distribution, columnsOf(there.Manifest).group(), rows)
	leaves, err := there.Distribution.LeavesOf(there.Tree)
	if err != nil {
		return nil, err
	}
	if leaves != nil {
		found.AddLeaves(there.Tree, leaves, nodes)
	}
	found.MarkAsked(there.Tree)
	found.Judge(limits)
	return found, nil
}

// countBins counts the rows of an input by the bins and leaves of a run. key is a column of groups; empty: none.
func countBins(
	ctx context.Context, s *session.Session, run string, there *runfolder.Run, in *source.Input, key string,
) (*jobs.Distributed, *runfolder.Compared, error) {
	features := there.Schema.Features()
	columnOf := func(name string) *parquetio.Column {
		return &in.Columns[slices.IndexFunc(in.Columns, func(c parquetio.Column) bool { return c.Name == name })]
	}
	trained := columnsOf(there.Manifest)
	spec := jobs.RowSpec{Parting: dataset.Parting{Key: key, Seed: trained.Seed, Shares: dataset.Shares{dataset.Test: 1}}}
	if count := trained.Count; slices.Contains(in.Names(), count) {
		spec.Count = count
		if err := in.CheckAmount("count", columnOf(count)); err != nil {
			return nil, nil, err
		}
	}
	units := make(map[string]dataset.Unit) // of numeric features, which files may have as texts
	for i := range features {
		if f := &features[i]; f.Kind == dataset.Numeric {
			units[f.Name] = f.Unit
		}
	}
	in, _, err := in.Declare(ctx, s.Files, units)
	if err != nil {
		return nil, nil, err
	}
	var groups dataset.CodeCounts
	if key != "" {
		if err := in.Check(columnOf(key)); err != nil {
			return nil, nil, err
		}
		spec.Groups[dataset.Test] = 1 // reads the keys
	}
	for i := range features {
		f := &features[i]
		if err := in.CheckFeature(f); err != nil {
			return nil, nil, dataset.WithHint(err, "write the columns as in training, or train again")
		}
		column := columnOf(f.Name)
		if err := in.Check(column); err != nil {
			return nil, nil, err
		}
		features[i].Type = column.Type
		spec.Features = append(spec.Features, dataset.FeatureColumn{
			Name: f.Name, Kind: f.Kind, Type: column.Type, Unit: f.Unit,
		})
		if key != "" {
			c := drift.ColumnOf(f)
			groups = append(groups, c.Groups(there.Distribution.Of(f.Name).Rows))
		}
	}
	c := jobs.DistributionConfig{
		ScoreConfig: jobs.ScoreConfig{
			Config: s.JobConfig(s.Temporary), Rows: spec.Encode(),
			Trees: jobs.Trees{URLs: []string{latest.TreeURL(run)}, Decoded: []*tree.Tree{there.Tree}},
		},
		Features: dataset.EncodeFeatures(features), Groups: groups,
	}
	if _, err := s.CountRows(ctx, in.Tasks, s.Temporary, spec.Count); err != nil {
		return nil, nil, dataset.ReplaceHint(err, "correct the counts; without their column, each line is a row")
	}
	err = s.RunGroups(ctx, "drift", in.Tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Distribute(s, tasks, c) })
	if err != nil {
		return nil, nil, fmt.Errorf("drift: %w", err)
	}
	now, err := jobs.ReadDistributed(ctx, &c, features, len(there.Tree.Nodes))
	if err != nil {
		return nil, nil, err
	}
	rows := &runfolder.Compared{Codes: now.Codes, Key: key}
	for i := range now.Buckets {
		rows.Effects = append(rows.Effects, drift.DesignEffect(&now.Buckets[i]))
	}
	return now, rows, nil
}
