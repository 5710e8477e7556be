package pages

import (
	"bytes"
	"context"

	"github.com/espalier-ml/espalier/io/modelcard"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// form is a form of a report: its document in the run folder, and how it is made.
type form struct {
	name string      // name of the document
	kind output.Kind // kind of files that may be replaced
	page func(ctx context.Context, f *source.Files, c *config.Report) ([]byte, error)
}

// formOf returns the requested form.
func formOf(c *config.Report) form {
	if c.Format == config.ReportMarkdown {
		return form{runfolder.CardName, kindOf("model card of espalier", "another model card", modelcard.Mark), card}
	}
	return form{runfolder.ReportName, reports(), page}
}

// kindOf returns the kind of files that begin with a mark.
func kindOf(is, another, mark string) output.Kind {
	return output.Kind{Is: is, Another: another, Own: func(head []byte) bool { return bytes.HasPrefix(head, []byte(mark)) }}
}

// maxNotes is the greatest size of a file of notes, in bytes.
const maxNotes = 1 << 20

// card makes the model card of a run.
func card(ctx context.Context, f *source.Files, c *config.Report) ([]byte, error) {
	content := &modelcard.Content{}
	if c.Notes != "" {
		b, err := f.Store.ReadAll(ctx, c.Notes, maxNotes)
		if err != nil {
			return nil, usage.Errorf("--notes: %v", err)
		}
		if content.Notes, err = modelcard.ReadNotes(c.Notes, b); err != nil {
			return nil, err
		}
	}
	m, err := runfolder.ReadManifest(ctx, f.Store, c.Run)
	if err != nil {
		return nil, err
	}
	content.Run, err = runfolder.Read(ctx, f.Store, c.Run, runfolder.Training, runfolder.TreeName, runfolder.MetricsName,
		runfolder.SchemaName, runfolder.ImportanceName, runfolder.FrontierName)
	if err != nil {
		return nil, err
	}
	content.Run.Manifest = m
	var b bytes.Buffer
	err = modelcard.Write(&b, content)
	return b.Bytes(), err
}
