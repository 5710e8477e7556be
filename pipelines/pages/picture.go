package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Picture describes a picture of a run.
type Picture struct {
	Run   string // run folder or LATEST.json
	Kind  string // name of a kind of chart.Kinds
	Class string // class for chart.NameROC; empty: all
	Width int    // in pixels; 0: the width of the picture
}

// Validate returns all faults at once.
func (p *Picture) Validate() error {
	var faults []error
	if p.Class != "" && p.Kind != chart.NameROC {
		faults = append(faults, errors.New("--class names a curve of --picture roc: leave it out"))
	}
	if 0 < p.Width && p.Width < chart.MinPixels {
		faults = append(faults, fmt.Errorf("--width %d: want %d pixels or more", p.Width, chart.MinPixels))
	}
	return usage.All(faults)
}

// Draw returns the picture as an SVG document. If the run lacks the data of the picture, it returns a usage error.
func (p *Picture) Draw(ctx context.Context) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	kinds := chart.Kinds()
	k := &kinds[slices.IndexFunc(kinds, func(k chart.Kind) bool { return k.Name == p.Kind })]
	run, _, err := runfolder.FindRun(ctx, source.Process.Store, p.Run)
	if err != nil {
		return nil, err
	}
	r, err := runfolder.Read(ctx, source.Process.Store, run, runfolder.Training, k.Document)
	if err != nil {
		return nil, err
	}
	drawn, err := k.Draw(r, p.Class)
	if err != nil {
		return nil, usage.Errorf("%s: %v", p.Run, err)
	}
	var b bytes.Buffer
	if err := drawn.SVG(&b, p.Width); err != nil {
		return nil, usage.Errorf("--width %d: %v", p.Width, err)
	}
	return b.Bytes(), nil
}
