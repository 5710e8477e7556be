package train

import (
	"context"
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/pipelines/pages"
)

// schemaFile returns schema.json: the role of each column, and how the values of each
// fitted feature become codes and what its tests cost.
func (p *plan) schemaFile(f *fitted) *tree.Schema {
	s := &tree.Schema{Label: f.label}
	fitted := make(map[string]*dataset.Feature, len(f.features))
	for i := range f.features {
		fitted[f.features[i].Name] = &f.features[i]
	}
	constant := make(map[string]bool, len(f.constant))
	for _, name := range f.constant {
		constant[name] = true
	}
	listed := make(map[string]tree.SchemaColumn, len(f.features))
	for _, c := range p.schema.columns {
		role := c.role
		if constant[c.Name] {
			role = RoleConstant
		}
		s.Columns = append(s.Columns, tree.SchemaColumn{
			Name: c.Name, Role: string(role), Physical: c.Physical, Logical: c.Logical, Feature: fitted[c.Name],
		})
		listed[c.Name] = s.Columns[len(s.Columns)-1]
	}
	next := 0 // features are listed in the order in which their tests break ties
	for i := range s.Columns {
		if s.Columns[i].Feature != nil {
			s.Columns[i] = listed[f.features[next].Name]
			next++
		}
	}
	return s
}

// manifest returns manifest.json: the settings, the inputs, the counts and the times of the run.
func (w *writer) manifest(g *grown, c *chosen) *runfolder.Manifest {
	m := &runfolder.Manifest{
		Format: runfolder.ManifestFormat, Version: 1, Espalier: runfolder.Version(),
		Started: w.start.UTC(), Seconds: time.Since(w.start).Seconds(),
		Config: w.config, Timings: w.driver.Timings,
		Counters: map[string]int64{
			"rows": g.stats.Rows, "dropped_null_labels": g.stats.Dropped, "ignored_zero_weight": g.stats.Ignored,
			"nodes": int64(c.tree.Complexity.Nodes), "features": int64(len(g.features)),
			"column_bytes": w.columnBytes(w.schema.rows.Columns()),
		},
	}
	for part := range dataset.Part(dataset.Parts) {
		m.Counters["rows_"+part.String()] = g.parts[part].Rows
		m.Counters["objects_"+part.String()] = g.parts[part].Objects
	}
	for _, f := range w.input.Files {
		m.Counters["footer_bytes"] += f.FooterBytes
	}
	m.CopiesBy = g.spec.Content
	m.Inputs = w.input.Manifest()
	m.Measured = w.measured(g)
	return m
}

// documents returns the documents of a chosen tree.
func (c *chosen) documents() *runfolder.Run {
	return &runfolder.Run{
		Tree: c.tree, Metrics: c.metrics, Frontier: c.frontier, Trees: c.frontierTrees, Grown: c.grown,
		Importance: c.importance, Strata: c.strata,
	}
}

// countLeaves sets the held-out rows at the leaves of a chosen tree.
func (c *chosen) countLeaves(d *runfolder.Distribution) {
	d.SetLeaves(c.tree, c.candidate.Counts[dataset.Validation], c.candidate.Counts[dataset.Test])
}

// countKeys sets the design effects of the key in a distribution, by the training rows. If these do not keep their
// groups, held-out rows give the effects of numeric columns; training has not seen the categories of their keys.
func (o *objects) countKeys(ctx context.Context, d *runfolder.Distribution) error {
	if o.spec.Key == "" {
		return nil
	}
	keep := func(part dataset.Part) bool { return o.parts[part].Objects <= o.spec.Groups[part] }
	parts := []dataset.Part{dataset.Train}
	trained := keep(dataset.Train)
	if !trained {
		parts = []dataset.Part{dataset.Validation, dataset.Test}
	}
	counts := drift.NewKeyCounts(o.features, o.train().Codes)
	complete := false
	layout := o.layout()
	for _, part := range parts {
		if !keep(part) || o.parts[part].Rows == 0 {
			continue
		}
		complete = true
		err := o.eachBlock(ctx, part, func(b []byte) error {
			block := o.newObjects(0)
			block.KeepGroups()
			if err := block.AppendFrom(b, layout); err != nil {
				return err
			}
			if complete = complete && block.Grouped(); complete {
				counts.Add(block)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		if complete && (trained || o.features[i].Kind == dataset.Numeric) {
			c.DesignEffect = counts.Effect(i)
		}
		if complete && trained {
			c.Keys = counts.Keys(i)
		}
	}
	return nil
}

// reportOf returns the report of a run; nil if it cannot be made, and the run then has no report.
func reportOf(documents *runfolder.Run, reporter engine.Reporter) []byte {
	page, err := pages.Of(documents)
	if err != nil {
		reporter.Warn(fmt.Sprintf("the run has no %s: %v", runfolder.ReportName, err))
		return nil
	}
	return page
}

// writer writes the run folder.
type writer struct {
	stage

	output *runfolder.Folder
	start  time.Time // start of the run
}

// write writes the run folder.
func (w *writer) write(ctx context.Context, g *grown, c *chosen) (*Result, error) {
	// Compute waits even if ctx has ended: the work itself watches ctx, and leaves no half-written folder.
	waits := context.WithoutCancel(ctx)
	return engine.Compute(waits, w.driver, engine.Write, 1, "folder", func(*parallel.Steps) (*Result, error) {
		documents := c.documents()
		documents.Schema, documents.Manifest = w.schemaFile(g.fitted), w.manifest(g, c)
		documents.Distribution = runfolder.NewDistribution(g.train().Rows, g.features, g.train().Codes)
		c.countLeaves(documents.Distribution)
		if err := g.countKeys(ctx, documents.Distribution); err != nil {
			return nil, err
		}
		if w.config.Report == config.ReportHTML {
			documents.Report = reportOf(documents, w.driver.Reporter)
		}
		urls, err := w.output.Write(ctx, documents)
		if err != nil {
			return nil, err
		}
		return &Result{
			Tree: c.tree, Metrics: c.metrics, Schema: documents.Schema, Frontier: c.frontier, Importance: c.importance,
			Manifest: documents.Manifest, Files: urls,
		}, nil
	})
}

// measured returns the memory and bytes that the run has taken. It is nil on an engine outside
// this process, whose counts are not visible here.
func (w *writer) measured(g *grown) *runfolder.Measured {
	if !w.driver.Local() {
		return nil
	}
	f := &w.driver.Figures
	e := &runfolder.Measured{
		Rows: g.stats.Rows, TrainObjects: g.train().Objects, ObjectPasses: g.passes,
		BlockBytes: f.Read, ShuffleBytes: f.Exchanged, HistogramBytes: f.Histogram,
	}
	for _, job := range w.driver.Timings {
		if job.Job == "summarise" || job.Job == "coalesce" {
			e.RowPasses++
		}
	}
	if e.RowPasses > 0 { // 0 if the run was resumed
		e.ColumnBytes = w.columnBytes(w.schema.rows.Columns()) + w.columnBytes(g.spec.Columns())
	}
	for part := range g.parts {
		e.Objects += g.parts[part].Objects
	}
	if w.place.spills {
		e.DiskBytes = f.Written
	}
	e.DriverMemory = memlimit.PeakMemory()
	return e
}
