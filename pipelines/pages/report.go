package pages

import (
	"bytes"
	"context"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Of returns the report of a run.
func Of(r *runfolder.Run) ([]byte, error) {
	var b bytes.Buffer
	err := report.Write(&b, &report.Content{Run: r})
	return b.Bytes(), err
}

// Report writes the report of a finished run, and returns its URL.
func Report(ctx context.Context, c config.Report, reporter engine.Reporter) (url string, err error) {
	setup := session.Setup{Check: c.Validate, Storage: c.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		run, _, err := runfolder.FindRun(ctx, s.Files.Store, c.Run) // or else the lock would make a folder
		if err != nil {
			return err
		}
		form := formOf(&c)
		c.Run = run
		if url = objectstore.Join(c.Run, form.name); c.Output == "" || c.Output == url {
			return s.Locked(ctx, run, func(ctx context.Context) error { return inLocked(ctx, s.Files, &c, form) })
		}
		url = c.Output
		file, err := output.Open(ctx, s.Files.Store, c.Output, c.Overwrite, form.kind)
		if err != nil {
			return err
		}
		page, err := form.page(ctx, s.Files, &c)
		if err != nil {
			return err
		}
		return file.Write(ctx, page)
	})
	return url, err
}

// reports are the files that a report may replace.
func reports() output.Kind {
	return kindOf("report of espalier", "another report", report.Mark)
}

// inLocked writes the report into the folder of its run, which is locked.
func inLocked(ctx context.Context, f *source.Files, c *config.Report, form form) error {
	folder, err := runfolder.Open(ctx, f.Store, c.Run, runfolder.Training, true)
	if err != nil {
		return err
	}
	manifest, err := runfolder.ReadFinished(ctx, f.Store, c.Run)
	if err != nil {
		return err
	}
	if folder.Has(form.name) && !c.Overwrite {
		return usage.Errorf("%s has the file %s: replace it with --overwrite, or write another file with --output", c.Run,
			form.name)
	}
	page, err := form.page(ctx, f, c)
	if err != nil {
		return err
	}
	return folder.Add(ctx, manifest, form.name, page)
}

// page makes the page of a run.
func page(ctx context.Context, f *source.Files, c *config.Report) ([]byte, error) {
	content := &report.Content{}
	var err error
	if content.Run, err = Read(ctx, f.Store, c.Run); err != nil {
		return nil, err
	}
	if c.Previous != "" {
		previous, _, err := runfolder.FindRun(ctx, f.Store, c.Previous)
		if err == nil {
			content.Previous, err = runfolder.Read(ctx, f.Store, previous, runfolder.Training, runfolder.TreeName,
				runfolder.MetricsName)
		}
		if err != nil {
			return nil, usage.Errorf("--previous %v", err)
		}
	}
	if c.Row != "" {
		if content.Route, err = Route(ctx, f, c.Row, content.Run.Tree); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = report.Write(&b, content)
	return b.Bytes(), err
}

// Read reads the documents of a training run that people read about, with the trees of its
// frontier.
func Read(ctx context.Context, s *objectstore.Store, run string) (*runfolder.Run, error) {
	m, err := runfolder.ReadManifest(ctx, s, run)
	if err != nil {
		return nil, err
	}
	r, err := runfolder.Read(ctx, s, run, runfolder.Training, runfolder.TreeName, runfolder.MetricsName,
		runfolder.ImportanceName, runfolder.FrontierName, runfolder.SchemaName)
	if err != nil {
		return nil, err
	}
	r.Manifest = m
	if r.Frontier != nil {
		r.Trees, err = Trees(ctx, s, run, r.Frontier)
	}
	return r, err
}

// Trees reads the trees of a frontier, by its points.
func Trees(ctx context.Context, s *objectstore.Store, run string, f *runfolder.Frontier) ([]*tree.Tree, error) {
	trees := make([]*tree.Tree, len(f.Points))
	err := parallel.AtOnce(len(trees), func(i int) (err error) {
		trees[i], err = runfolder.ReadPoint(ctx, s, run, &f.Points[i])
		return err
	})
	return trees, err
}
