package pipelines

import (
	"context"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// schemaFile returns schema.json: what each column is used for and, of the features
// that could be tested, how their values become codes and what they cost.
func (t *training) schemaFile() *tree.Schema {
	s := &tree.Schema{Label: t.label}
	fitted := make(map[string]*dataset.Feature, len(t.features))
	for i := range t.features {
		fitted[t.features[i].Name] = &t.features[i]
	}
	for _, c := range t.schema.columns {
		s.Columns = append(s.Columns, tree.SchemaColumn{
			Name: c.Name, Role: string(c.role), Physical: c.Physical, Logical: c.Logical, Feature: fitted[c.Name],
		})
	}
	return s
}

func (t *training) manifest(start time.Time) *runfolder.Manifest {
	m := &runfolder.Manifest{
		Format: runfolder.ManifestFormat, Version: 1, Espalier: runfolder.Version(), Started: start.UTC(), Seconds: time.Since(start).Seconds(),
		Config: t.config, Timings: t.driver.Timings,
		Counters: map[string]int64{
			"rows": t.rowStats.Rows, "dropped_null_labels": t.rowStats.Dropped, "ignored_zero_weight": t.rowStats.Ignored,
			"nodes": int64(t.tree.Complexity.Nodes), "features": int64(len(t.features)),
		},
	}
	for part := range dataset.Part(dataset.Parts) {
		m.Counters["rows_"+part.String()] = t.objects[part].Rows
		m.Counters["objects_"+part.String()] = t.objects[part].Objects
	}
	columns := t.schema.rows.Columns()
	for _, f := range t.input.Files {
		m.Counters["footer_bytes"] += f.FooterBytes
		m.Counters["column_bytes"] += f.ColumnBytes(columns)
	}
	m.Inputs = t.input.Manifest()
	m.Estimate, m.Measured = t.estimate, t.measured()
	return m
}

// writePhase is the name of the phase in which the documents of a folder are written.
const writePhase = "write"

// write writes the run folder.
func (t *training) write(ctx context.Context, start time.Time) (r *Result, err error) {
	// The work notices the end of the context itself: nothing is left half done.
	err = t.driver.Phase(context.WithoutCancel(ctx), writePhase, 1, "folder", func(*parallel.Steps) (err error) {
		r, err = t.writeFolder(ctx, start)
		return err
	})
	return r, err
}

func (t *training) writeFolder(ctx context.Context, start time.Time) (*Result, error) {
	urls, err := t.output.Write(ctx, &runfolder.Run{
		Tree: t.tree, Metrics: t.metrics, Schema: t.schemaFile(), Manifest: t.manifest(start),
		Frontier: t.frontier, Trees: t.frontierTrees,
	})
	if err != nil {
		return nil, err
	}
	return &Result{Tree: t.tree, Metrics: t.metrics, Frontier: t.frontier, Files: urls, Estimate: t.estimate}, nil
}
