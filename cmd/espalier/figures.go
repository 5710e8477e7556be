package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// printFigures prints all figures of a run: by part of the rows, by class, by slice and by feature, the frontier,
// the folds and the certificate.
func printFigures(w io.Writer, folder string, r *runfolder.Run) error {
	width := pageWidth(w)
	b := bufio.NewWriter(w) // keeps the first error for Flush
	line := func(text string) { _, _ = fmt.Fprintln(b, textview.Wrapped(text, width, "  ")) }
	_ = textview.FiguresTable(r.Metrics.Parts()).Write(b, width)
	line("")
	part, m := r.Metrics.Best()
	_ = textview.Classes(b, "class ("+part+")", m, width)
	_ = textview.Operating(b, r.Tree, m, part, width)
	if total := textview.Total(r); total != "" {
		line("\n" + total)
	}
	printSlices(b, part, m, width)
	if r.Importance != nil && len(r.Importance.Features) > 0 {
		line(fmt.Sprintf("\nimportance of the features: the AUC on %s rows that the tree loses if a feature is permuted",
			r.Importance.Part))
		_ = textview.Features(b, r.Importance.Features, width)
	}
	if r.Frontier != nil {
		line(fmt.Sprintf("\nthe frontier: %d trees, the best of %d prunings of %d grown trees (* chosen: %s)",
			len(r.Frontier.Points), r.Frontier.Pruned, r.Frontier.Grown, r.Frontier.Select))
		_ = textview.Frontier(b, r.Frontier, width)
		line("")
		_ = textview.Neighbours(b, r.Frontier.Points, width)
		line("to take tree N: espalier frontier " + folder + " --promote N --output NEW")
	}
	if r.Metrics.Folds != nil {
		line("")
		_, _ = fmt.Fprintln(b, textview.Wrapped(textview.Folds(r.Metrics.Folds, r.Tree.Modelled()), width, ""))
	}
	if text := textview.Certificate(r.Tree); text != "" {
		line("\n" + text)
	}
	return b.Flush()
}

// printSlices prints the slices of a part, if there are any.
func printSlices(w io.Writer, part string, m *metric.Metrics, width int) {
	if len(m.Slices) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\nslices of the %s rows\n", part)
	_ = textview.Slices(w, m, width)
}
