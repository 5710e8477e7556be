package benchmark

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

// markdown returns a table for each variant and measure, with the comparison of its algorithms, and
// a table of mean ranks for each comparison of all methods.
func markdown(r *Result, algorithms []string) []byte {
	b := new(bytes.Buffer)
	b.WriteString("# Benchmark\n\nMeans over the splits, with their standard deviation. " +
		"The last line of a table has mean ranks, 1 for the best.\n")
	for _, v := range variants() {
		for _, m := range measures() {
			fmt.Fprintf(b, "\n## %s: %s\n\n", m.title, v)
			fmt.Fprintf(b, "| data set | %s |\n", strings.Join(algorithms, " | "))
			fmt.Fprintf(b, "| --- |%s\n", strings.Repeat(" ---: |", len(algorithms)))
			writeRows(b, r.Means, v, &m, len(algorithms))
			trees := PlainTrees
			if v.pruned {
				trees = PrunedTrees
			}
			if one := r.comparison(v.costs, m.name, trees); one != nil {
				fmt.Fprintf(b, "\n%s\n", one.sentence())
			}
		}
	}
	writeRanks(b, r.Comparisons)
	return b.Bytes()
}

// comparison returns a comparison; nil if the result does not have it.
func (r *Result) comparison(costs, measure, trees string) *Comparison {
	i := slices.IndexFunc(r.Comparisons, func(c Comparison) bool {
		return c.Costs == costs && c.Measure == measure && c.Of == trees
	})
	if i < 0 {
		return nil
	}
	return &r.Comparisons[i]
}

// writeRows writes the lines of a table. The summaries of a data set are next to each other, one
// for each of the algorithms.
func writeRows(b *bytes.Buffer, all []Summary, v variant, m *measure, algorithms int) {
	ranks := make([][]float64, algorithms)
	for row := range slices.Chunk(all, algorithms) {
		if row[0].Costs != v.costs || row[0].Pruned != v.pruned {
			continue
		}
		fmt.Fprintf(b, "| %s |", row[0].Set)
		for i := range row {
			value := row[i].Of[m.name]
			fmt.Fprintf(b, " %.*f ± %.*f |", m.digits, value.Mean, m.digits, value.Deviation)
			ranks[i] = append(ranks[i], value.Rank)
		}
		b.WriteString("\n")
	}
	b.WriteString("| mean rank |")
	for _, list := range ranks {
		fmt.Fprintf(b, " %.2f |", ranking.Mean(list))
	}
	b.WriteString("\n")
}

// writeRanks writes a table of mean ranks for each comparison of all methods.
func writeRanks(b *bytes.Buffer, all []Comparison) {
	for i := range all {
		c := &all[i]
		if c.Of != AllTrees {
			continue
		}
		fmt.Fprintf(b, "\n## Mean ranks by %s: %s\n\n", c.Measure, variant{costs: c.Costs}.law())
		fmt.Fprintf(b, "%sec45 is ec45 with pruned trees. %s\n\n", prunedPrefix, c.sentence())
		b.WriteString("| method | mean rank | p of the pair with " + c.Methods[0].Name + ", Nemenyi |")
		if c.Control != "" {
			b.WriteString(" p of the pair with " + c.Control + ", Bonferroni and Dunn |")
		}
		b.WriteString("\n| --- | ---: | ---: |")
		if c.Control != "" {
			b.WriteString(" ---: |")
		}
		b.WriteString("\n")
		for _, m := range c.Methods {
			fmt.Fprintf(b, "| %s | %.2f | %s |", m.Name, m.Rank, probability(m.NemenyiP[0]))
			switch {
			case m.DunnP != nil:
				fmt.Fprintf(b, " %s |", probability(*m.DunnP))
			case c.Control != "":
				b.WriteString(" |")
			}
			b.WriteString("\n")
		}
	}
}

// sentence says what the tests of a comparison have found.
func (c *Comparison) sentence() string {
	f := "its form by Iman and Davenport is infinite"
	if c.Friedman.F != nil {
		f = fmt.Sprintf("by Iman and Davenport F = %.3g, p %s", *c.Friedman.F, probability(c.Friedman.FP))
	}
	return fmt.Sprintf("Friedman's test of %d methods on %d data sets: chi-squared = %.3f, p %s; %s. "+
		"Critical difference of mean ranks at %g: %.3f for all pairs (Nemenyi), %.3f for pairs with one method "+
		"(Bonferroni and Dunn).", len(c.Methods), c.Sets, c.Friedman.ChiSquared, probability(c.Friedman.P), f, c.Level,
		c.Nemenyi, c.Dunn)
}

// probability writes a p value.
func probability(p float64) string {
	switch {
	case p < 1e-12:
		return "below 1e-12"
	case p < 1e-4:
		return fmt.Sprintf("%.1e", p)
	default:
		return fmt.Sprintf("%.4f", p)
	}
}
