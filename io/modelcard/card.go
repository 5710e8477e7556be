package modelcard

import (
	_ "embed" // the card
	"io"
	"strings"
	"text/template"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

//go:embed card.tmpl
var source string

// Mark is the beginning of a card.
const Mark = "# Model card"

// Content is the content of a card.
type Content struct {
	// Run has Tree, Metrics and Manifest. Schema, Importance and Frontier may be nil.
	Run   *runfolder.Run
	Notes Notes // nil: all notes are still to be filled in
}

// card is the data of the template. All texts are Markdown.
type card struct {
	Title    markdown
	Espalier markdown // version of the program

	Facts *textview.FactSheet

	Parts           *table
	Priced          bool // errors have costs
	Classes         *table
	Part            markdown // the part whose figures are quoted
	Slices          *table
	Operating       *table
	OperatingPoints markdown // what Operating is about
	Apart           markdown
	Features        *table
	Frontier        *table
	Caveats         []markdown
	notes           Notes
}

// builder makes the tables of a card.
type builder struct {
	*runfolder.Run

	part    string          // the part whose figures are quoted
	metrics *metric.Metrics // metrics of this part
}

// table is a table whose first column is aligned to the left, and all other columns to the right.
type table struct {
	Heads []string
	Rows  [][]markdown
}

// Note returns a note, or a line with the question that it should answer if the note is absent.
func (c *card) Note(name, question string) markdown {
	if text := c.notes[name]; text != "" {
		return markdown(text)
	}
	return markdown("*To be filled in: " + question + "*")
}

// Line is Note for a text on one line.
func (c *card) Line(name, question string) markdown {
	return markdown(strings.Join(strings.Fields(string(c.Note(name, question))), " "))
}

// Write writes the card of a run.
func Write(w io.Writer, c *Content) error {
	t, err := template.New("card").Parse(source)
	if err != nil {
		return err
	}
	b := &builder{Run: c.Run}
	b.part, b.metrics = c.Run.Metrics.Best()
	operating, points := b.operating()
	return t.Execute(w, &card{
		Operating: operating, OperatingPoints: points,
		Title: name(c.Run.Tree.Label.Column), Espalier: name(c.Run.Manifest.Espalier),
		Facts: textview.Facts(c.Run, func(s string) string { return string(name(s)) }),
		Parts: b.parts(), Priced: b.metrics.ExpectedErrorCost != nil, Classes: b.classes(), Part: markdown(b.part), Slices: b.slices(),
		Apart: b.apart(), Features: b.features(), Frontier: b.frontier(), Caveats: b.caveats(),
		notes: c.Notes,
	})
}
