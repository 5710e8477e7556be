package textview

import "fmt"

// Visible returns how many of n entries a list of at most most shows, and a line about the entries
// that it leaves out. It leaves out none or several, because a line about a single entry would take
// the place of that entry.
func Visible(n, most int) (shown int, others string) {
	if n <= most+1 {
		return n, ""
	}
	return most, fmt.Sprintf("(%d others)", n-most)
}

// others adds a line about what the table leaves out; empty: nothing.
func (t *Table) others(line string) *Table {
	if line != "" {
		t.Add(line)
	}
	return t
}
