package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page, its style and its script
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

//go:embed page.html
var source string

//go:embed page.css
var css string

// The scripts: score.js sends rows through trees, without knowing the page; page.js shows the
// results.
var (
	//go:embed score.js
	score string
	//go:embed page.js
	script string
)

// Mark begins each page that Write writes.
const Mark = "<!-- espalier report -->\n"

// Content is the content of a page.
type Content struct {
	Run      *runfolder.Run  // the documents of a training run
	Route    *textview.Route // the path of a row through the tree of the run; optional
	Previous *runfolder.Run  // an earlier run to compare with; optional
}

// page is the data of the template.
type page struct {
	Mark                     template.HTML
	Title, Lead              string
	StyleHash, ScriptHash    string
	Style                    template.CSS
	Script                   template.JS
	Data                     template.JS
	Chart                    template.HTML // picture of the frontier
	ROC, Calibration, Uses   template.HTML
	Drawing                  template.HTML // first levels of the tree, for readers without scripts
	Slices                   *table
	SlicesNote               string
	Brief                    []said
	Choice, Quality          []string // sentences of the first screen
	Answers                  []answered
	Next                     []next
	Notes                    []string
	Path                     *textview.PathTable
	Trees                    int // on the frontier
	Parts, Classes, Bins     *table
	Operating                *table
	OperatingPoints          string // what Operating is about
	Confusions               string
	Features, Points, Depths *table
	Alternatives             *table // trees with another first question
	Importance               string // description of the table of features
	Previous                 *previous
	Settings, Inputs         *table
	Facts                    *textview.FactSheet
}

// Write writes the page of a run. Equal documents give equal pages.
func Write(w io.Writer, c *Content) error {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for room := maxTrees; ; {
		p, err := newPage(c, room)
		if err != nil {
			return err
		}
		b.Reset()
		if err := t.Execute(&b, p); err != nil {
			return err
		}
		over := b.Len() - maxPage
		if over <= 0 || room == 0 {
			break
		}
		room = max(0, room-over-room/8) // names of features also take room
	}
	_, err = w.Write(b.Bytes())
	return err
}

// maxPage is the greatest size of a page, in bytes.
const maxPage = 1_990_000

// newPage makes all texts and tables of a page. Its trees have at most room bytes.
func newPage(c *Content, room int) (*page, error) {
	facts, err := newFacts(c.Run)
	if err != nil {
		return nil, err
	}
	few := outlined(c.Run, maxPoints)
	frontier, spots := frontierOf(few)
	encoded, err := json.Marshal(newPayload(few, c.Route, spots, room))
	if err != nil {
		return nil, err
	}
	style := svg.CSS() + css
	code := strings.TrimSpace(score + script)
	p := &page{
		Mark: Mark, Title: facts.title(), Lead: facts.lead(), StyleHash: hashOf(style),
		Style:  template.CSS(style),                         //nolint:gosec // the style is the package's own
		Script: template.JS(code), ScriptHash: hashOf(code), //nolint:gosec // the script is the package's own
		Data:  template.JS(encoded), //nolint:gosec // json.Marshal escapes <, > and &
		Chart: frontier, Brief: facts.brief(),
		Answers: facts.answers(), Next: nextSteps(), Notes: facts.notes(),
		Parts: newTable(textview.FiguresTable(c.Run.Metrics.Parts())), Bins: facts.calibration(),
		Settings: facts.settings, Inputs: facts.inputs(), Facts: textview.Facts(c.Run, textview.Name),
	}
	p.addOverview(c.Run)
	p.ROC, p.Calibration = drawn(chart.ROC(c.Run.Metrics, "")), drawn(chart.Calibration(c.Run.Metrics))
	part, m := c.Run.Metrics.Best()
	if t, note := textview.SlicesTable(m); t != nil {
		p.Slices = newTable(t)
		p.SlicesNote = upper(note)
	}
	if t, confusions := textview.ClassTable("class ("+part+")", m); t != nil {
		p.Classes = newTable(t)
		p.Confusions = confusions
	}
	if t, what := textview.OperatingTable(c.Run.Tree, m, part); t != nil {
		p.Operating = newTable(t)
		p.OperatingPoints = upper(what)
	}
	if i := c.Run.Importance; i != nil && len(i.Features) > 0 {
		p.Features, p.Importance = newTable(textview.FeaturesTable(i.Features, maxFeatures)), facts.importance()
		p.Uses = drawn(chart.Importance(i))
	}
	if f := c.Run.Frontier; f != nil {
		p.Trees, p.Points = len(f.Points), newTable(textview.PointsTable(outlined(c.Run, maxListed).Frontier))
		p.Alternatives = facts.alternatives()
	}
	view := &textview.View{Tree: c.Run.Tree, Route: c.Route}
	if c.Run.Tree.CountLeaves() > largeTree {
		p.Depths = newTable(textview.ByDepth(&textview.View{Tree: c.Run.Tree}))
	}
	if p.Path = textview.NewPathTable(view); p.Path != nil {
		p.Path.Head = sentence(p.Path.Head)
	}
	view.Depth = drawnLevels
	var b bytes.Buffer
	if err := drawing.Bare(&b, textview.Picture(view)); err != nil {
		return nil, err
	}
	p.Drawing = picture(&b)
	if c.Previous != nil {
		p.Previous = newPrevious(c.Previous, c.Run)
	}
	return p, nil
}

// next is a step that a reader can take next, with its command.
type next struct{ What, Command string }

// folder is a placeholder for the folder of the run, which the page does not contain.
const folder = "RUN"

// addOverview adds the contents of the first screen of a training.
func (p *page) addOverview(r *runfolder.Run) {
	o := &textview.Overview{Folder: folder, Run: r}
	if r.Schema != nil { // the page of an earlier version's run may lack it
		p.Choice = o.Choice()[:3] // the notes at the head of the page describe the decision
	}
	p.Quality = o.Quality()
	if budgets, another := o.Budgets(); budgets != nil {
		p.Next = append(p.Next, next{"take another tree", another})
	}
}

// nextSteps lists what a reader can do with a run.
func nextSteps() []next {
	return []next{
		{"score rows", "espalier predict --model RUN --input 'new/*.parquet' --output scored"},
		{"measure the tree on new rows", "espalier evaluate --model RUN --input 'new/*.parquet'"},
		{"answer its questions in a terminal", "espalier ask RUN"},
		{"write it as source code", "espalier export RUN --format python --output model.py"},
	}
}

// frontierOf draws the frontier of a run, and returns the positions of its points.
func frontierOf(r *runfolder.Run) (template.HTML, []svg.Point) {
	if r.Frontier == nil {
		return "", nil
	}
	p, err := chart.Frontier(r.Frontier)
	if err != nil {
		return "", nil // none of its trees has an AUC: the table has all that is known
	}
	return drawn(p, nil), p.Frame().Spots
}

// maxPicture is the greatest size of a picture on the page, in bytes.
const maxPicture = 150_000

// drawn returns a picture of a run for the page. A picture is left out if figures for it are missing.
func drawn(p *chart.Picture, err error) template.HTML {
	var b bytes.Buffer
	if err != nil || p.Bare(&b) != nil {
		return ""
	}
	return picture(&b)
}

// picture returns a picture for the page, unless it is too large.
func picture(b *bytes.Buffer) template.HTML {
	if b.Len() > maxPicture {
		return ""
	}
	return template.HTML(b.String()) //nolint:gosec // the picture has escaped all texts
}

// drawnLevels is the number of levels of the tree that readers without scripts see.
const drawnLevels = 3

// The greatest numbers of features and of points of the frontier in tables, and of leaves of a
// tree without a table of its levels.
const (
	maxFeatures = 60
	maxListed   = 60
	largeTree   = 500
)

// hashOf returns the hash by which a Content-Security-Policy allows a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// table is a table of the page.
type table struct {
	Heads []cell
	Rows  [][]cell
}

// cell is a cell of a table. Numbers stand at the right.
type cell struct {
	Text   string
	Number bool
}

func newTable(t *textview.Table) *table {
	heads, rows := t.Cells()
	number := func(texts []string) []cell {
		cells := make([]cell, len(texts))
		for i, text := range texts {
			cells[i] = cell{text, !t.Columns[i].Left}
		}
		return cells
	}
	p := &table{Heads: number(heads)}
	for _, row := range rows {
		p.Rows = append(p.Rows, number(row))
	}
	return p
}
