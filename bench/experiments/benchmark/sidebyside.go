package benchmark

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

// The differences from published figures that are called small.
const (
	smallArea = 0.01 // of AUC
	smallCost = 0.05 // as a share of the published cost
)

// publishedMarkdown returns the tables of published figures: side by side, the larger differences,
// and budget queries.
func publishedMarkdown(all []Published, splits int) []byte {
	b := new(bytes.Buffer)
	b.WriteString("# Published figures and ours\n\nMeans over the splits, where each test costs 1.\n")
	b.WriteString("\n## Side by side\n\n| data set | method | AUC, published | ours | cost, published | ours |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: |\n")
	for i := range all {
		p := &all[i]
		fmt.Fprintf(b, "| %s | %s | %.4f | %.4f | %.3f | %.3f |\n", p.Set, p.Method, p.AUC, p.Ours.AUC, p.Cost, p.Ours.Cost)
	}
	writeDifferences(b, all, splits)
	writeBudgets(b, all)
	return b.Bytes()
}

// writeDifferences writes a table of the larger differences. t is the difference of AUC by its
// standard error, if the published mean varies as ours does.
func writeDifferences(b *bytes.Buffer, all []Published, splits int) {
	large := slices.DeleteFunc(slices.Clone(all), func(p Published) bool { return p.small() })
	fmt.Fprintf(b, "\n## Larger differences\n\nOf %d pairs, %d differ by at most %g in AUC and %g %% in cost. "+
		"These are the others.", len(all), len(all)-len(large), smallArea, float64(100*smallCost))
	if splits > 1 {
		bound := distuv.StudentsT{Sigma: 1, Nu: float64(2*splits - 2)}.Quantile(0.975)
		fmt.Fprintf(b, " t has the differences in standard errors, if the published means vary over splits as ours "+
			"do: from -%.2f to %.2f is chance at the level of 0.05.", bound, bound)
	}
	b.WriteString(" Of ec45 and ecart, the last column has AUC and cost of the lambda whose cost is nearest to the " +
		"published one.\n\n| data set | method | AUC | t | cost | t | at lambda: AUC, cost |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for i := range large {
		p := &large[i]
		at := ""
		if p.Nearest != nil {
			at = fmt.Sprintf("%g: %+.4f, %+.1f %%", p.Lambda, p.Nearest.AUC-p.AUC, percent(p.Nearest.Cost, p.Cost))
		}
		fmt.Fprintf(b, "| %s | %s | %+.4f | %s | %+.1f %% | %s | %s |\n", p.Set, p.Method, p.Ours.AUC-p.AUC,
			inErrors(p.Ours.AUC-p.AUC, p.Ours.AUCDeviation, splits), percent(p.Ours.Cost, p.Cost),
			inErrors(p.Ours.Cost-p.Cost, p.Ours.CostDeviation, splits), at)
	}
}

// small reports whether the figures are near to the published ones.
func (p *Published) small() bool {
	return math.Abs(p.Ours.AUC-p.AUC) <= smallArea && math.Abs(percent(p.Ours.Cost, p.Cost)) <= 100*smallCost
}

func percent(ours, published float64) float64 { return 100 * (ours/published - 1) }

// inErrors writes a difference in standard errors of the difference of two means.
func inErrors(difference, deviation float64, splits int) string {
	if splits < 2 || deviation == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f", difference/(deviation*math.Sqrt(2/float64(splits))))
}

// writeBudgets writes a table of budget queries by data set, and the points that are missed.
func writeBudgets(b *bytes.Buffer, all []Published) {
	asked := slices.DeleteFunc(slices.Clone(all), func(p Published) bool { return p.Margin == nil })
	if len(asked) == 0 {
		return
	}
	b.WriteString("\n## Budgets\n\nEach published cost is put as a budget: of the trees that cost no more, the one " +
		"that is best on validation rows. A point is matched where its mean AUC on test rows is no lower than the " +
		"published AUC.\n\n| data set | matched | mean margin | least margin |\n| --- | ---: | ---: | ---: |\n")
	line := func(name string, of []Published) {
		margins := make([]float64, len(of))
		held := 0
		for i := range of {
			margins[i] = *of[i].Margin
			if margins[i] >= -equalAreas {
				held++
			}
		}
		least := &of[slices.Index(margins, slices.Min(margins))]
		fmt.Fprintf(b, "| %s | %d of %d | %+.4f | %+.4f (%s) |\n", name, held, len(of), ranking.Mean(margins), *least.Margin,
			least.Method)
	}
	for from := 0; from < len(asked); {
		to := from + 1
		for to < len(asked) && asked[to].Set == asked[from].Set {
			to++
		}
		line(asked[from].Set, asked[from:to])
		from = to
	}
	line("all", asked)
}

// equalAreas is the distance within which AUCs are equal.
const equalAreas = 1e-9

// publishedCSV returns the published figures and ours as a table.
func publishedCSV(all []Published) []byte {
	b := new(bytes.Buffer)
	w := csv.NewWriter(b)
	_ = w.Write([]string{
		"set", "method", "auc", "cost", "our_auc", "our_auc_deviation", "our_cost", "our_cost_deviation",
		"budget_auc", "budget_auc_deviation", "budget_cost", "margin",
	})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for i := range all {
		p := &all[i]
		line := []string{
			p.Set, p.Method, number(p.AUC), number(p.Cost), number(p.Ours.AUC), number(p.Ours.AUCDeviation),
			number(p.Ours.Cost), number(p.Ours.CostDeviation), "", "", "", "",
		}
		if p.Budget != nil {
			copy(line[8:], []string{
				number(p.Budget.AUC), number(p.Budget.AUCDeviation), number(p.Budget.Cost), number(*p.Margin),
			})
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes()
}
