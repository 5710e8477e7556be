package benchmark

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

// latex returns the tables for a paper, one for each variant and measure, by the package booktabs, no
// wider than its text. The best means on each data set are bold.
func latex(r *Result, algorithms []string) []byte {
	b := new(bytes.Buffer)
	b.WriteString("% Needs \\usepackage{adjustbox,booktabs}.\n")
	for _, v := range variants() {
		for _, m := range measures() {
			if m.shared && v.pruned {
				continue
			}
			writeLatex(b, r, v, &m, algorithms)
		}
	}
	return b.Bytes()
}

func writeLatex(b *bytes.Buffer, r *Result, v variant, m *measure, algorithms []string) {
	fmt.Fprintf(b, "\n\\begin{table}\n\\caption{%s: %s. Means and standard deviations over %d splits.}\n"+
		"\\label{tab:%s-%s%s}\n\\centering\n\\begin{adjustbox}{max width=\\textwidth}\n\\begin{tabular}{l%s}\n\\toprule\nData set", m.title, v, r.splits(), m.name,
		v.costs, map[bool]string{true: "-pruned"}[v.pruned], strings.Repeat("r", len(algorithms)))
	for _, a := range algorithms {
		fmt.Fprintf(b, " & %s", escapedLatex(method{a, v.pruned}.String()))
	}
	b.WriteString(" \\\\\n\\midrule\n")
	ranks := make([][]float64, len(algorithms))
	for _, set := range setsOf(r.Means) {
		b.WriteString(escapedLatex(set))
		best := math.Inf(1) // rank, above 1 where several are equal
		for _, a := range algorithms {
			best = min(best, meanOf(r.Means, v.costs, set, method{a, v.pruned}).Of[m.name].Rank)
		}
		for i, a := range algorithms {
			value := meanOf(r.Means, v.costs, set, method{a, v.pruned}).Of[m.name]
			ranks[i] = append(ranks[i], value.Rank)
			figure := fmt.Sprintf("%.*f", m.digits, value.Mean)
			if value.Rank == best {
				figure = "\\mathbf{" + figure + "}"
			}
			fmt.Fprintf(b, " & $%s \\pm %.*f$", figure, m.digits, value.Deviation)
		}
		b.WriteString(" \\\\\n")
	}
	b.WriteString("\\midrule\nmean rank")
	for _, list := range ranks {
		fmt.Fprintf(b, " & $%.2f$", ranking.Mean(list))
	}
	b.WriteString(" \\\\\n\\bottomrule\n\\end{tabular}\n\\end{adjustbox}\n\\end{table}\n")
}

// escapedLatex escapes the characters of a text that LaTeX reads as commands, and the signs < > |, which
// its usual fonts print as other signs.
func escapedLatex(text string) string {
	return strings.NewReplacer(`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`, "{", `\{`,
		"}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`,
		"|", `\textbar{}`).Replace(text)
}
