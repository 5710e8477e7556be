package textview

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Column is a column of a Table.
type Column struct {
	Head string
	Left bool // aligned at the left; else at the right
	Rank int  // on a narrow page columns are dropped, the highest rank first; 0: never dropped
}

// Table is rows of cells in aligned columns, two blanks apart.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// NewTable returns an empty table.
func NewTable(columns ...Column) *Table { return &Table{Columns: columns} }

// Add adds a row, a cell for each column.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write writes the table in lines of at most width characters; 0: of any length. If the
// table is wider, columns with a rank are dropped, then the widest cells are cut.
// Characters that would break a line are escaped.
func (t *Table) Write(w io.Writer, width int) error {
	rows := t.spelled()
	widths := t.widths(rows)
	kept := t.fit(widths, width)
	var b strings.Builder
	for n, row := range rows {
		cells := make([]string, len(kept))
		for k, i := range kept {
			cells[k] = aligned(cut(row[i], widths[i]), widths[i], t.Columns[i].Left)
		}
		line := strings.TrimRight(strings.Join(cells, gap), " ")
		if n > 0 || line != "" { // without heads there is no head line
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Cells returns the heads and the rows of the table. Characters that would break a line, or turn
// the direction of a text, are escaped.
func (t *Table) Cells() (heads []string, rows [][]string) {
	spelled := t.spelled()
	return spelled[0], spelled[1:]
}

// gap separates two columns.
const gap = "  "

// spelled returns the heads and the rows, with escapes.
func (t *Table) spelled() [][]string {
	heads := make([]string, len(t.Columns))
	for i := range t.Columns {
		heads[i] = t.Columns[i].Head
	}
	rows := [][]string{heads}
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			if i < len(row) {
				cells[i] = quoted(row[i])
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

// widths returns the widths of the columns without a limit.
func (t *Table) widths(rows [][]string) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayed(cell))
		}
	}
	return widths
}

// natural is the width of a table on a page without limits.
func (t *Table) natural() int {
	sum := len(gap) * (len(t.Columns) - 1)
	for _, width := range t.widths(t.spelled()) {
		sum += width
	}
	return sum
}

// minCell is the least width of a cut cell, in characters.
const minCell = 8

// fit returns the columns to keep on a page. If they are still too wide, it narrows the
// widest of them.
func (t *Table) fit(widths []int, page int) []int {
	kept := make([]int, len(widths))
	for i := range kept {
		kept[i] = i
	}
	if page <= 0 {
		return kept
	}
	total := func() int {
		sum := len(gap) * (len(kept) - 1)
		for _, i := range kept {
			sum += widths[i]
		}
		return sum
	}
	for total() > page {
		last := slices.MaxFunc(kept, func(a,
			b int,
		) int {
			return cmp.Or(cmp.Compare(t.Columns[a].Rank, t.Columns[b].Rank), a-b)
		})
		if t.Columns[last].Rank == 0 {
			break
		}
		kept = slices.DeleteFunc(kept, func(i int) bool { return i == last })
	}
	for over := total() - page; over > 0; over = total() - page {
		widest := slices.MaxFunc(kept, func(a, b int) int { return widths[a] - widths[b] })
		if widths[widest] <= minCell {
			break
		}
		widths[widest]--
	}
	return kept
}

// terminal measures text as terminals draw it, in the same way for every locale.
func terminal() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// displayed returns the width of a text in character cells.
func displayed(s string) int { return terminal().StringWidth(s) }

// ellipsis ends a text that was cut.
const ellipsis = ".."

// cut shortens a text to a width.
func cut(s string, width int) string {
	if displayed(s) <= width {
		return s
	}
	return terminal().Truncate(s, width, ellipsis)
}

// aligned pads a text with blanks.
func aligned(s string, width int, left bool) string {
	blanks := strings.Repeat(" ", max(0, width-displayed(s)))
	if left {
		return s + blanks
	}
	return blanks + s
}

// Wrapped breaks a text between words into lines of at most width characters; 0: one line.
// Lines after the first begin with the indent.
func Wrapped(s string, width int, indent string) string {
	if width <= 0 || displayed(s) <= width {
		return s
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(s, " ") {
		n := displayed(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = displayed(indent)
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
