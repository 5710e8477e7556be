package benchmarking

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/ranking"
)

// latex returns the tables for a paper, one for each variant and measure, by the package booktabs. The
// best mean on each data set is bold.
func latex(r *Result, algorithms []string) []byte {
	b := new(bytes.Buffer)
	b.WriteString("% Needs \\usepackage{booktabs}.\n")
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
		"\\label{tab:%s-%s%s}\n\\centering\n\\begin{tabular}{l%s}\n\\toprule\nData set", m.title, v, r.splits(), m.name,
		v.costs, map[bool]string{true: "-pruned"}[v.pruned], strings.Repeat("r", len(algorithms)))
	for _, a := range algorithms {
		fmt.Fprintf(b, " & %s", escapedLatex(method{a, v.pruned}.String()))
	}
	b.WriteString(" \\\\\n\\midrule\n")
	ranks := make([][]float64, len(algorithms))
	for _, set := range setsOf(r.Means) {
		b.WriteString(escapedLatex(set))
		for i, a := range algorithms {
			value := meanOf(r.Means, v.costs, set, method{a, v.pruned}).Of[m.name]
			ranks[i] = append(ranks[i], value.Rank)
			figure := fmt.Sprintf("%.*f", m.digits, value.Mean)
			if value.Rank < 2 { // the best, or equal to it
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
	b.WriteString(" \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n")
}

// escapedLatex returns a text with the characters that LaTeX reads as commands escaped.
func escapedLatex(text string) string {
	return strings.NewReplacer(`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`, "{", `\{`,
		"}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`).Replace(text)
}
