package source

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// nullPartition is how Hive spells a null in a path.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// pathColumns returns the columns in each file's path, as Hive partitions data: folders named
// name=value. A folder that --input names, or one above it, is a column if all files have this column in
// their paths and none has another column of the name. given has the columns of such folders with several values, and
// twice, by name, the columns that some file has as well: whether the columns of the folders count.
func pathColumns(list []listed, files []*parquetio.File) (paths [][]jobs.PathColumn, given []string, twice map[string]bool) {
	paths = make([][]jobs.PathColumn, len(list))
	above := make([][]jobs.PathColumn, len(list))
	known := make(map[string]int) // files with the column in their paths
	own := make(map[string]bool)  // columns of files
	for i := range list {
		below, _ := strings.CutPrefix(list[i].URL, list[i].folder)
		folders := strings.Split(below, "/")
		paths[i] = columnsOf(folders[:len(folders)-1], nil)
		above[i] = columnsOf(strings.Split(list[i].folder, "/"), paths[i])
		for _, c := range slices.Concat(paths[i], above[i]) {
			known[c.Name]++
		}
		for _, c := range files[i].Columns() {
			own[c.Name] = true
		}
	}
	twice = make(map[string]bool)
	for i := range paths {
		for _, c := range slices.Concat(above[i], paths[i]) {
			if own[c.Name] {
				twice[c.Name] = slices.Contains(paths[i], c)
			}
		}
		for _, c := range above[i] {
			if known[c.Name] == len(list) && !own[c.Name] {
				paths[i] = append(paths[i], c)
				if c.Text != columnNamed(paths[0], c.Name).Text && !slices.Contains(given, c.Name) {
					given = append(given, c.Name)
				}
			}
		}
	}
	return paths, given, twice
}

// columnNamed returns the column of a path that has a name.
func columnNamed(path []jobs.PathColumn, name string) jobs.PathColumn {
	return path[slices.IndexFunc(path, func(c jobs.PathColumn) bool { return c.Name == name })]
}

// columnsOf returns the columns of folders, without the columns in others. If two folders have the same name, the first
// one counts.
func columnsOf(folders []string, others []jobs.PathColumn) (columns []jobs.PathColumn) {
	for _, folder := range folders {
		c, ok := pathColumn(folder)
		same := func(o jobs.PathColumn) bool { return o.Name == c.Name }
		if ok && !slices.ContainsFunc(columns, same) && !slices.ContainsFunc(others, same) {
			columns = append(columns, c)
		}
	}
	return columns
}

// typePaths decides on the types of the columns of paths. A column has numbers if its value is a number in all files,
// no number has two spellings, and float64 holds all integers exactly. spelled has the columns of numbers with values
// such as 01 that are not spelled like numbers: they are texts that may be read as numbers.
func typePaths(paths [][]jobs.PathColumn) (spelled map[string]bool) {
	kinds := make(map[string]*pathKind)
	spelled = make(map[string]bool)
	for _, path := range paths {
		for i := range path {
			k := kinds[path[i].Name]
			if k == nil {
				k = &pathKind{numbers: make(map[float64]string)}
				kinds[path[i].Name] = k
			}
			k.add(&path[i])
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
	return spelled
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
