package textview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/metric"
)

// The greatest numbers of classes, and of pairs of classes, that are listed one by one.
const (
	maxListed     = 8
	maxConfusions = 5
)

// ClassTable returns a table of the classes of a part: number of rows, metrics, and confusion. With
// many classes a text lists the most frequent confusions instead of the confusion matrix; otherwise
// the text is empty. The table is nil for metrics without rows. head is the head of the column of
// classes.
func ClassTable(head string, m *metric.Metrics) (table *Table, confusions string) {
	if m.Weight == 0 {
		return nil, ""
	}
	c := &classTable{head: head, metrics: m, order: bySupport(m)}
	if len(m.PerClass) <= maxListed {
		return c.table(true), ""
	}
	return c.table(false), c.confusions()
}

// Classes writes a table of the classes of a part: number of rows, metrics, and confusion. With
// many classes or on a narrow page, a line lists the most frequent confusions instead of the
// confusion matrix. Lines have at most width characters; 0: unlimited. head is the head of the
// column of classes.
func Classes(w io.Writer, head string, m *metric.Metrics, width int) error {
	if m.Weight == 0 {
		return nil
	}
	c := &classTable{head: head, metrics: m, order: bySupport(m)}
	whole := c.table(len(m.PerClass) <= maxListed)
	lost := width > 0 && whole.natural() > width
	if lost {
		whole = c.table(false)
	}
	if err := whole.Write(w, width); err != nil {
		return err
	}
	if !lost && len(m.PerClass) <= maxListed {
		return nil
	}
	if text := c.confusions(); text != "" {
		_, err := fmt.Fprintln(w, Wrapped(text, width, "  "))
		return err
	}
	return nil
}

// classTable makes the table of a part's classes.
type classTable struct {
	head    string
	metrics *metric.Metrics
	order   []int // the listed classes
}

// bySupport returns the classes to list: all in their order or, if there are many, the classes with
// the most rows.
func bySupport(m *metric.Metrics) []int {
	order := make([]int, len(m.PerClass))
	for k := range order {
		order[k] = k
	}
	if shown, _ := Visible(len(order), maxListed); shown < len(order) {
		slices.SortStableFunc(order, func(a,
			b int,
		) int {
			return cmp.Compare(m.PerClass[b].Support, m.PerClass[a].Support)
		})
		order = order[:shown]
	}
	return order
}

// rows writes a fixed-point weight of rows.
func (c *classTable) rows(weight int64) string {
	if scale := c.metrics.WeightScale; scale != 0 {
		return number(float64(weight) / scale)
	}
	return strconv.FormatInt(weight, 10)
}

func (c *classTable) table(confusion bool) *Table {
	t := NewTable(Column{Head: c.head, Left: true}, Column{Head: "rows"}, Column{Head: "precision"},
		Column{Head: "recall"}, Column{Head: "AUC"})
	if confusion {
		for _, k := range c.order {
			t.Columns = append(t.Columns, Column{Head: "as " + name(c.metrics.PerClass[k].Class)})
		}
	}
	for _, k := range c.order {
		one := &c.metrics.PerClass[k]
		row := []string{
			name(one.Class), c.rows(one.Support), Figure(one.Precision), Figure(one.Recall),
			Figure(one.AUC),
		}
		if confusion {
			for _, predicted := range c.order {
				row = append(row, c.rows(c.metrics.Confusion[k][predicted]))
			}
		}
		t.Add(row...)
	}
	_, others := Visible(len(c.metrics.PerClass), maxListed)
	return t.others(others)
}

// confusions lists the most frequent confusions.
func (c *classTable) confusions() string {
	type pair struct {
		actual, predicted int
		weight            int64
	}
	var pairs []pair
	for a, row := range c.metrics.Confusion {
		for p, weight := range row {
			if a != p && weight > 0 {
				pairs = append(pairs, pair{a, p, weight})
			}
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.weight, a.weight) })
	worst := pairs[:min(len(pairs), maxConfusions)]
	texts := make([]string, len(worst))
	for i, p := range worst {
		texts[i] = fmt.Sprintf("%s rows of %s as %s", c.rows(p.weight), name(c.metrics.PerClass[p.actual].Class),
			name(c.metrics.PerClass[p.predicted].Class))
	}
	return "most confused: " + strings.Join(texts, ", ")
}
