package config

import (
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// PlotTree draws the tree; chart.Kinds lists the other pictures.
const PlotTree = "tree"

// FormatSVG is the format of pictures.
const FormatSVG = "svg"

// Plot is the configuration of a picture of a run. Settings declares what each field means.
type Plot struct {
	Run       string // run folder or LATEST.json; for PlotTree also a tree.json
	What      string
	Class     string // class for chart.NameROC; empty: all
	Depth     int    // for PlotTree: levels of tests, see report.View
	Format    string
	Width     int // in pixels; 0: the width of the picture
	Output    string
	Overwrite bool
}

// DefaultPlot is the frontier as SVG.
func DefaultPlot() Plot {
	return Plot{What: chart.Kinds()[0].Name, Depth: report.FittingDepth, Format: FormatSVG}
}

// Settings declares the settings of a picture, which set the fields of c.
func (c *Plot) Settings() []setting.Setting {
	var pictures []string
	for _, k := range chart.Kinds() {
		pictures = append(pictures, k.Name)
	}
	pictures = append(pictures, PlotTree)
	return []setting.Setting{
		{
			Name: "what", Group: setting.Model, Value: setting.OneOf(&c.What, pictures...), Help: setting.Alternatives(pictures),
		},
		{
			Name: "class", Group: setting.Model, Value: setting.Text(&c.Class),
			Help: "class of --what roc (default: each, of two the second)",
		},
		{
			Name: "depth", Group: setting.Model, Value: setting.Whole(&c.Depth, setting.Between(-1, math.MaxInt32)),
			Help: "levels of tests of --what tree; 0: all; -1: all of a tree of at most 500 leaves, else the first levels",
		},
		{
			Name: "format", Group: setting.Printed, Value: setting.Text(&c.Format, onlySVG), Help: "svg",
		},
		{
			Name: "width", Group: setting.Printed, Value: setting.Whole(&c.Width, setting.Between(0, chart.MaxPixels)),
			Help: fmt.Sprintf("width in pixels, at least %d; 0: %d; trees are as wide as their texts", chart.MinPixels, chart.Width),
		},
		{
			Name: "output", Group: setting.Printed, Value: setting.Text(&c.Output),
			Help: "file or URL to write instead of standard output",
		},
		{
			Name: "overwrite", Group: setting.Printed, Value: setting.Switch(&c.Overwrite),
			Help: "replace the file of --output, if plot wrote it",
		},
	}
}

// onlySVG returns an error for other formats.
func onlySVG(format string) error {
	if format != FormatSVG {
		return errors.New("want svg; browsers and rsvg-convert make PNG files of it")
	}
	return nil
}

// Validate returns all faults at once.
func (c *Plot) Validate() error {
	faults := setting.Faults(c.Settings())
	if c.Class != "" && c.What != chart.NameROC {
		faults = append(faults, errors.New("--class names a curve of --what roc: leave it out"))
	}
	if c.Depth != report.FittingDepth && c.What != PlotTree {
		faults = append(faults, errors.New("--depth is for --what tree: leave it out"))
	}
	if 0 < c.Width && c.Width < chart.MinPixels {
		faults = append(faults, fmt.Errorf("--width %d: want %d pixels or more", c.Width, chart.MinPixels))
	}
	if c.Width != 0 && c.What == PlotTree {
		faults = append(faults, errors.New("--width: the SVG of a tree is as wide as its texts; leave it out"))
	}
	return usage.All(faults)
}
