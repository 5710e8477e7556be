package pages

import (
	"bytes"
	"context"
	"slices"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Plot returns a picture of a run as an SVG document. If the run lacks the data of the picture, it
// returns a usage error.
func Plot(ctx context.Context, c config.Plot) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if c.What == config.PlotTree {
		return plotTree(ctx, &c)
	}
	p, err := picture(ctx, source.Process.Store, &c)
	if err != nil {
		return nil, err
	}
	if err := p.SVG(&b, c.Width); err != nil {
		return nil, usage.Errorf("--width %d: %v", c.Width, err)
	}
	return b.Bytes(), nil
}

// plotTree draws the tree of a run folder or of a tree.json.
func plotTree(ctx context.Context, c *config.Plot) ([]byte, error) {
	t, err := runfolder.ReadTree(ctx, source.Process.Store, c.Run)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = drawing.SVG(&b, report.Picture(&report.View{Tree: t, Depth: c.Depth}))
	return b.Bytes(), err
}

// picture draws a document of a run folder.
func picture(ctx context.Context, s *objectstore.Store, c *config.Plot) (*chart.Picture, error) {
	kinds := chart.Kinds()
	k := &kinds[slices.IndexFunc(kinds, func(k chart.Kind) bool { return k.Name == c.What })]
	run, _, err := runfolder.FindRun(ctx, s, c.Run)
	if err != nil {
		return nil, err
	}
	r, err := runfolder.Read(ctx, s, run, runfolder.Training, k.Document)
	if err != nil {
		return nil, err
	}
	p, err := k.Draw(r, c.Class)
	if err != nil {
		return nil, usage.Errorf("%s: %v", c.Run, err)
	}
	return p, nil
}
