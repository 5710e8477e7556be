package train_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestGroupsInFolds: rows of a key have nearly equal numbers and one class, by chance. If folds divide
// keys, a tree knows the class of most rows; if they do not, it knows none. Teachers and leaf models go
// the same way.
func TestGroupsInFolds(t *testing.T) {
	longtest.Skip(t)
	const keys, each = 200, 6
	r := rand.New(rand.NewPCG(4, 50))
	data := newRows(keys * each)
	for i := range data.id {
		key := i / each
		if i%each == 0 {
			x, y := r.Float64(), r.Float64()
			for j := i; j < i+each; j++ {
				a, b := x+1e-3*r.Float64(), y+1e-3*r.Float64()
				data.a[j], data.b[j], data.class[j] = &a, &b, []string{"low", "high"}[key%2]
			}
		}
		data.id[i] = int64(key)
	}
	input := data.write(t, ascending(keys*each), 2, parquetio.WriteOptions{})
	for _, teacher := range []string{"none", "boosted"} {
		for _, key := range []string{"", "id"} {
			if teacher == "boosted" && key == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s %q", teacher, key), func(t *testing.T) {
				c := config.DefaultTrain()
				c.Input, c.Label, c.Output, c.Group = []string{input}, "class", t.TempDir(), key
				c.Ignore, c.Split, c.Folds = []string{"twin", "color", "flag", "weight"}, dataset.Shares{100, 0, 0}, crossvalidate.Setting{Number: 5}
				if key == "" {
					c.Ignore = append(c.Ignore, "id")
				}
				c.Algorithm, c.Lambda, c.Theta, c.Certificate = []split.Algorithm{split.C45}, []float64{10}, []float64{0}, false
				c.Bins = 1000
				if teacher == "boosted" {
					c.Split, c.Teacher, c.LeafModel = dataset.Shares{85, 15, 0}, "boosted", "linear"
				}
				result, err := train.Train(t.Context(), c, &silent{})
				if err != nil {
					t.Fatal(err)
				}
				highest := 0.0
				for _, p := range result.Frontier.Points {
					highest = max(highest, *p.Folds)
				}
				if key == "" && highest < .9 || key != "" && highest > .62 {
					t.Errorf("the highest area of folds is %v", highest)
				}
			})
		}
	}
}

// TestSpellingsOfGroups: groups of texts that differ in case or blanks only are named once, with their rows in all parts.
func TestSpellingsOfGroups(t *testing.T) {
	const n = 300
	for name, c := range map[string]struct {
		groups []string
		want   string // part of the warning; empty: none
	}{
		"a few": {[]string{"b", "k", "k ", "K", "a", "c"}, `"color" has groups that differ in case, blanks or zeros only: "K" (50 rows), "k" (50 rows), "k " (50 rows); if`},
		"many":  {[]string{"a", "A", "b", " b", "c", "C", "d", "D", "e", "E"}, `"C" (30 rows), "c" (30 rows); 2 more such sets; if`},
		"none":  {[]string{"k1", "k2", "k-1"}, ""},
	} {
		data := newRows(n)
		for i := range n {
			data.color[i] = &c.groups[i%len(c.groups)]
		}
		settings := oneTree()
		settings.Input, settings.Label, settings.Output = []string{data.write(t, ascending(n), 2, parquetio.WriteOptions{})}, "class", t.TempDir()
		settings.Group = "color"
		var told silent
		if _, err := train.Train(t.Context(), settings, &told); err != nil {
			t.Fatal(err)
		}
		warned := slices.DeleteFunc(told.warnings, func(text string) bool { return !strings.Contains(text, "blanks") })
		if len(warned) > 1 || (len(warned) == 1) != (c.want != "") || c.want != "" && !strings.Contains(warned[0], c.want) {
			t.Errorf("%s: warnings %q, want %q", name, warned, c.want)
		}
	}
}
