package source

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// nullPartition is how Hive spells a null in a path.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// pathColumns returns the columns in each file's path, as Hive partitions data: folders named
// name=value below the folder given by --input. A column has numbers if its value is a number in
// all files, no number has two spellings, and float64 holds all integers exactly. spelled has the
// columns of numbers with values such as 01 that are not spelled like numbers: they are texts that
// may be read as numbers.
func pathColumns(list []listed) (paths [][]jobs.PathColumn, spelled map[string]bool) {
	paths = make([][]jobs.PathColumn, len(list))
	kinds := make(map[string]*pathKind)
	spelled = make(map[string]bool)
	for i := range list {
		below, _ := strings.CutPrefix(list[i].URL, list[i].folder)
		folders := strings.Split(below, "/")
		for _, folder := range folders[:len(folders)-1] {
			c, ok := pathColumn(folder)
			if !ok || slices.ContainsFunc(paths[i], func(o jobs.PathColumn) bool { return o.Name == c.Name }) {
				continue
			}
			paths[i] = append(paths[i], c)
			k := kinds[c.Name]
			if k == nil {
				k = &pathKind{numbers: make(map[float64]string)}
				kinds[c.Name] = k
			}
			k.add(&c)
		}
	}
	for _, path := range paths {
		for i := range path {
			c := &path[i]
			if k := kinds[c.Name]; k.texts || k.spelled {
				spelled[c.Name] = !k.texts
				c.Type = dataset.Text
				c.Number = 0
			} else {
				c.Type = dataset.Number
				c.Text = ""
			}
		}
	}
	return paths, spelled
}

// pathKind describes the values of a column of paths.
type pathKind struct {
	texts   bool               // not of numbers
	spelled bool               // some number is spelled otherwise than numbers are
	numbers map[float64]string // their spellings
}

func (k *pathKind) add(c *jobs.PathColumn) {
	switch {
	case c.Null:
		return
	case c.Type == dataset.Text:
		k.texts = true
		return
	}
	if other, known := k.numbers[c.Number]; known && other != c.Text {
		k.texts = true
	}
	k.numbers[c.Number] = c.Text
	k.spelled = k.spelled || dataset.SpellNumber(c.Number) != c.Text
}

// pathColumn reads a folder's name as name=value, both percent-encoded.
func pathColumn(folder string) (jobs.PathColumn, bool) {
	name, value, ok := strings.Cut(folder, "=")
	if !ok || name == "" {
		return jobs.PathColumn{}, false
	}
	c := jobs.PathColumn{Name: unescape(name), Text: unescape(value), Type: dataset.Text}
	if value == nullPartition || value == "" {
		c.Null = true
		c.Text = ""
		return c, true
	}
	x, err := strconv.ParseFloat(c.Text, 64)
	if err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && !strings.ContainsAny(c.Text, "_xXpP") &&
		!dataset.LosesDigits(c.Text, x) {
		c.Type = dataset.Number
		c.Number = x + 0
	}
	return c, true
}

func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
