package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/provenance"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// The values of --format.
const (
	formatText  = "text"
	formatRules = "rules"
	formatSVG   = "svg"
)

// showMark is the first line of drawings that show writes. A file without it is not replaced.
const showMark = "<!-- espalier show -->\n"

// showOptions are the flags of show.
type showOptions struct {
	model, format, output, row       string
	picture, class, destination      string
	depth, node, width               int
	figures, origin, json, overwrite bool
}

func newShowOptions() *showOptions {
	return &showOptions{format: formatText, depth: textview.FittingDepth}
}

// Settings declares the flags of show.
func (o *showOptions) Settings() []setting.Setting {
	return []setting.Setting{
		config.ModelSetting(&o.model),
		{
			Name: "node", Group: setting.Model, Value: setting.Whole(&o.node, setting.Between(0, math.MaxInt32)),
			Help: "show only what is below this node; 0: the root",
		},
		{
			Name: "depth", Group: setting.Model, Value: setting.Whole(&o.depth, setting.Between(-1, math.MaxInt32)),
			Help: "levels of tests to show; 0: all; -1: all of a tree of at most 500 leaves, else the first levels",
		},
		{
			Name: "row", Group: setting.Case, Value: setting.Text(&o.row),
			Help: "FILE:N, row N of a Parquet file, counted from 0: show its path and what is paid at each step",
		},
		{
			Name: "figures", Group: setting.Printed, Value: setting.Switch(&o.figures),
			Help: "print the figures of a run instead of its tree: by part of the rows, class and feature, the frontier, " +
				"the folds and the certificate",
		},
		{
			Name: "picture", Group: setting.Printed, Value: setting.Text(&o.picture, isPicture),
			Help: "draw this picture of a run as SVG instead of its tree: " + setting.Alternatives(pictureNames()),
		},
		{
			Name: "class", Group: setting.Printed, Value: setting.Text(&o.class),
			Help: "class of --picture roc (default: each, of two the second)",
		},
		{
			Name: "width", Group: setting.Printed, Value: setting.Whole(&o.width, setting.Between(0, chart.MaxPixels)),
			Help: fmt.Sprintf("width of --picture in pixels, at least %d; 0: %d", chart.MinPixels, chart.Width),
		},
		{
			Name: "origin", Group: setting.Printed, Value: setting.Switch(&o.origin),
			Help: "print which tree made a file, which rows and settings made the tree, and when it was in use",
		},
		{
			Name: "destination", Group: setting.Printed, Value: setting.Text(&o.destination),
			Help: "destination of retrain whose history has the tree of --origin (default: the folder of the run that the file names)",
		},
		jsonSetting(&o.json, "print --origin as JSON"),
		{
			Name: "format", Group: setting.Printed, Value: setting.OneOf(&o.format, formatText, formatRules, formatSVG),
			Help: "text, rules or svg",
		},
		{
			Name: "output", Group: setting.Printed, Value: setting.Text(&o.output),
			Help: "file or URL to write instead of standard output",
		},
		{
			Name: "overwrite", Group: setting.Printed, Value: setting.Switch(&o.overwrite),
			Help: "replace the file of --output, if it is a drawing that show wrote",
		},
	}
}

func newShow() *cobra.Command {
	o := newShowOptions()
	c := &cobra.Command{
		Use:         "show MODEL",
		Short:       "Show a tree, a row's path, a run's figures, or a file's origin",
		GroupID:     lookStage,
		Annotations: common("model format depth row figures picture origin output"),
		Long: `Show a tree. Each line is a node: its condition, the training rows that reach it
and their share, the cost paid so far, and the class with its probability.

The formats:
  text   a tree for terminals; of more than 500 leaves the first levels, and a
         table of all levels
  rules  a rule for each leaf, the most frequent first: class and probability,
         rows, share, tests and cost, and the conditions of its rows
  svg    a drawing; no other program is needed

With --row the text is the path of that row: for each test its value, the branch,
the price and what was paid so far. The format rules then has the rule of its leaf,
and a drawing shows the path in red.

Long cuts are shortened for reading, by at most a thousandth of the distance to
the next cut of the feature: 4.017 stands for 4.017072740170225. Rules and the
tips of drawings have all digits. Colours are for terminals alone; NO_COLOR=1
turns them off.

The pictures of a run, for papers and slides:
` + pictures() + `
show FILE --origin prints which tree made a file, which rows and settings made the
tree, and when it was in use. FILE is a file or folder of predictions, a run folder,
a tree.json, a report, a model card, or an export. Files have the digest of their
tree. Its rows and settings are in the run folder, and in the history of the
destination of retrain, where they stay after --keep_runs has removed the run.`,
		Example: `  espalier show runs/first
  espalier show runs/first --figures
  espalier show runs/first --format rules --node 4
  espalier show runs/first --row new.parquet:17
  espalier show runs/first --format svg --depth 5 --output gs://bucket/tree.svg
  espalier show runs/first --picture frontier --output frontier.svg
  espalier show scored/2026-11-05.parquet --origin
  espalier show model.py --origin --destination models --json`,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), c.Flags(), raw(c.OutOrStdout())) },
	}
	takeModel(c)
	addFlags(c.Flags(), o.Settings())
	return c
}

// pictures describes the kinds of pictures.
func pictures() string {
	var b strings.Builder
	for _, k := range chart.Kinds() {
		line := fmt.Sprintf("  %-11s  %s", k.Name, k.Help)
		b.WriteString(textview.Wrapped(line, 79, strings.Repeat(" ", 15)) + "\n")
	}
	return b.String()
}

// pictureNames returns the names of the kinds of pictures.
func pictureNames() []string {
	var names []string
	for _, k := range chart.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// isPicture returns an error if no picture has the name; the empty name is for no picture.
func isPicture(name string) error {
	if name != "" && !slices.Contains(pictureNames(), name) {
		return errors.New("want " + setting.Alternatives(pictureNames()))
	}
	return nil
}

func (o *showOptions) run(ctx context.Context, flags *pflag.FlagSet, stdout io.Writer) error {
	if err := o.check(flags); err != nil {
		return err
	}
	switch {
	case o.figures:
		r, err := pipelines.ReadFigures(ctx, o.model)
		if err != nil {
			return err
		}
		return printFigures(stdout, o.model, r)
	case o.origin:
		found, err := provenance.Trace(ctx, source.Process.Store, o.model, o.destination)
		return printFound(stdout, found, err, o.json, printOrigin)
	}
	kind := output.Kind{Is: "drawing of espalier show", Another: "another drawing", Own: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(showMark))
	}}
	target, err := output.Open(ctx, source.Process.Store, o.output, o.overwrite, kind)
	if err != nil {
		return err
	}
	b, err := o.drawn(ctx, stdout)
	switch {
	case err != nil:
		return err
	case o.output == "":
		_, err = stdout.Write(b)
		return err
	case o.picture != "" || o.format == formatSVG:
		b = append([]byte(showMark), b...)
	}
	return target.Write(ctx, b)
}

// drawn returns a picture of a run, or its tree in the format asked for.
func (o *showOptions) drawn(ctx context.Context, stdout io.Writer) ([]byte, error) {
	if o.picture != "" {
		p := pages.Picture{Run: o.model, Kind: o.picture, Class: o.class, Width: o.width}
		return p.Draw(ctx)
	}
	v, err := o.view(ctx)
	if err != nil {
		return nil, err
	}
	if o.output == "" {
		v.Width = pageWidth(stdout)
		v.Coloured = coloured(stdout)
	}
	var b bytes.Buffer
	err = o.write(&b, v)
	return b.Bytes(), err
}

// check refuses flags that have no effect on what is shown.
func (o *showOptions) check(flags *pflag.FlagSet) error {
	if faults := setting.Faults(o.Settings()); len(faults) > 0 {
		return usage.All(faults)
	}
	shown := "a tree is shown"
	used := "node depth row format output overwrite"
	switch {
	case o.figures:
		shown = "--figures are text on standard output"
		used = "figures"
	case o.picture != "":
		shown = "--picture " + o.picture + " is shown"
		used = "picture class width output overwrite"
	case o.origin:
		shown = "--origin is shown"
		used = "origin destination json"
	}
	var useless []string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(strings.Fields("model "+used), f.Name) {
			useless = append(useless, "--"+f.Name)
		}
	})
	switch {
	case len(useless) > 0:
		return usage.Errorf("%s: leave out %s", shown, strings.Join(useless, ", "))
	case o.format == formatRules && o.depth != textview.FittingDepth:
		return usage.Errorf("--depth %d: a rule has all tests on the way to its leaf: leave --depth out, or choose "+
			"another --format", o.depth)
	case o.format == formatText && o.row != "" && (o.depth != textview.FittingDepth || o.node != 0):
		return usage.Errorf("--row: the text of a row is its whole path: leave --depth and --node out, or choose " +
			"--format svg")
	}
	return nil
}

// view reads the tree and the row.
func (o *showOptions) view(ctx context.Context) (*textview.View, error) {
	t, err := pipelines.ReadTree(ctx, o.model)
	if err != nil {
		return nil, err
	}
	if o.node >= len(t.Nodes) {
		return nil, usage.Errorf("--node %d: the tree has nodes 0 to %d", o.node, len(t.Nodes)-1)
	}
	v := &textview.View{Node: o.node, Depth: o.depth}
	v.Tree, v.Guess = textview.Interested(t)
	if o.row == "" {
		return v, nil
	}
	v.Route, err = pages.Route(ctx, source.Process, o.row, t)
	return v, err
}

// write writes a view in the format asked for.
func (o *showOptions) write(w io.Writer, v *textview.View) error {
	switch o.format {
	case formatRules:
		return textview.Rules(w, v)
	case formatSVG:
		return drawing.SVG(w, textview.Picture(v))
	default:
		if v.Route != nil {
			return textview.Path(w, v)
		}
		return textview.Shown(w, v)
	}
}

// printOrigin prints an origin for people.
func printOrigin(w io.Writer, o *provenance.Origin) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(head, format string, args ...any) {
		text := fmt.Sprintf("%-10s", head) + fmt.Sprintf(format, args...)
		_, _ = fmt.Fprintln(b, textview.Wrapped(text, width, strings.Repeat(" ", 10)))
	}
	line("file", "%s", o.File)
	if p := o.Predictions; p != nil {
		rows := p.Rows
		of := p.Inputs
		if o.Input != nil {
			rows = o.Input.Rows
			of = []runfolder.Input{*o.Input}
		}
		line("holds", "predictions of %s, made %s by Espalier %s", rowsOf(rows, of), at(p.Started), o.Espalier)
	} else if o.Espalier != "" {
		line("by", "Espalier %s", o.Espalier)
	}
	line("tree", "%s", o.Digest)
	switch {
	case o.Removed:
		line("run", "%s, which was removed: its manifest is in the register", o.Folder)
	case o.Folder != "" && o.Training != nil:
		line("run", "%s", o.Folder)
	case o.Run != "":
		line("run", "%s", o.Run)
	}
	for _, also := range o.Also {
		line("also", "%s of %s, in columns %s...", also.Digest, cmp.Or(also.Run, "an unknown run"), also.Prefix)
	}
	if m := o.Training; m != nil {
		rows := int64(0)
		for _, in := range m.Inputs {
			rows += in.Rows
		}
		if len(m.Inputs) == 0 { // a Beam pipeline has trained the tree
			rows = m.Counters["rows"]
		}
		line("trained", "%s by Espalier %s on %s", at(m.Started), m.Espalier, rowsOf(rows, m.Inputs))
		line("settings", "%s", settingsOf(m))
		if p := m.Origin; p != nil {
			line("promoted", "%s by Espalier %s, from the frontier of %s, whose tree is %s", at(p.Promoted), p.Espalier, p.Run, p.Digest)
		}
	} else {
		line("trained", "unknown here: name the destination of retrain with --destination")
	}
	if o.AUC != nil {
		line("figures", "%s", tested(o.AUC, o.Cost))
	}
	if len(o.Used) > 0 {
		line("in use", "%s", usesText(o))
	}
	for _, note := range o.Notes {
		line("note", "%s", note)
	}
	return b.Flush()
}

// rowsOf describes rows and their files.
func rowsOf(rows int64, files []runfolder.Input) string {
	switch n := len(files); n {
	case 0:
		return fmt.Sprintf("%d rows", rows)
	case 1:
		return fmt.Sprintf("%d rows of %s", rows, files[0].URL)
	default:
		return fmt.Sprintf("%d rows of %d files, %s to %s", rows, n, files[0].URL, files[n-1].URL)
	}
}

// at returns a time as text.
func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// usesText describes when a tree was in use.
func usesText(o *provenance.Origin) string {
	var texts []string
	for _, u := range o.Used {
		text := "since " + at(u.From)
		if u.Until != nil {
			text = at(u.From) + " to " + at(*u.Until)
		}
		if u.Reason != "" {
			text += " (" + u.Reason + ")"
		}
		texts = append(texts, text)
	}
	return firstOf(texts, "; ")
}

// mostListed is how many periods or settings are printed: the first screen has room for them.
const mostListed = 10

// firstOf joins the first texts of a list.
func firstOf(texts []string, by string) string {
	if shown, others := textview.Visible(len(texts), mostListed); others != "" {
		texts = append(texts[:shown], others)
	}
	return strings.Join(texts, by)
}

// settingsOf lists the settings on which a tree depends and that are not the defaults, without the files.
func settingsOf(m *runfolder.Manifest) string {
	defaults := config.DefaultTrain()
	usual := make(map[string]any)
	if b, err := json.Marshal(defaults); err != nil || json.Unmarshal(b, &usual) != nil {
		return ""
	}
	final, _ := m.Config.(map[string]any) // of another form: no settings
	var texts []string
	for _, s := range defaults.Settings() {
		value, ok := final[s.Name]
		if ok && !s.Changeable && s.Name != "input" && s.Name != "output" && !reflect.DeepEqual(value, usual[s.Name]) {
			b, _ := json.Marshal(value) // a value from JSON
			texts = append(texts, s.Name+" "+strings.Trim(string(b), `"`))
		}
	}
	return firstOf(texts, ", ")
}
