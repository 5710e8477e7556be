package live

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// scored holds the predictions of a tree.
type scored struct {
	runfolder.Stamp

	model   string   // URL of its tree.json when it scored; empty if unknown
	classes []string // in the order of the tree
	codes   *dataset.ClassCodes
	days    map[string]*day
	rows    map[string]prediction // by key
}

// prediction is the prediction for a row.
type prediction struct {
	day      *day
	leaf     *metric.Leaf // entry of its day
	file     int32        // index of the file of predictions
	labelled int32        // number of the file with its label, from 1; 0 without a label
}

// day counts the predictions of a day.
type day struct {
	runfolder.LiveDay

	leaves []*metric.Leaf          // distinct predictions
	heavy  map[heavyRows]rowsSum   // the labelled rows by their weights; nil if all rows have the same weight
	seen   map[string]*metric.Leaf // entries by their bytes; only the last ones if there are many
}

// heavyRows are the rows of a class with the same prediction whose weights are nearly equal, see dataset.WeightClass.
type heavyRows struct {
	leaf   *metric.Leaf
	class  int
	weight uint8 // class of weights
}

type rowsSum struct{ weight, rows int64 }

// maxSeen is how many distinct predictions of a day are kept to recognise equal ones. Trees without
// leaf models have fewer.
const maxSeen = 1 << 16

// columns describes where a file has the predictions of a tree.
type columns struct {
	*scored

	day    *day
	shadow bool
	names  []string // prediction, tests, cost, and the probabilities by class
}

// find returns the trees that have made the predictions of a file, and adds them to the trees.
func (j *join) find(ctx context.Context, file *parquetio.File) ([]columns, error) {
	var list []columns
	manifest, name := j.manifestOf(ctx, file.URL)
	date := cmp.Or(manifest.DayOf(name), runfolder.DateIn(file.URL), path.Base(objectstore.Join(file.URL, "..")))
	for n := 0; ; n++ {
		prefix := jobs.AlsoPrefix(n)
		stamp := runfolder.StampFrom(func(key string) string { return file.Metadata(jobs.AlsoKey(n, key)) })
		if stamp.Digest == "" {
			break
		}
		t := j.trees[stamp.Digest]
		if t == nil {
			t = &scored{
				Stamp: stamp, model: manifest.TreeOf(stamp.Digest), classes: classesOf(file, prefix),
				days: make(map[string]*day), rows: make(map[string]prediction),
			}
			t.codes = dataset.NewClassCodes(t.classes)
			j.trees[stamp.Digest] = t
		}
		c := columns{scored: t, day: t.dayOf(date), shadow: n > 0}
		c.names = []string{prefix + "prediction", prefix + "tests", prefix + "cost"}
		for _, class := range t.classes {
			c.names = append(c.names, prefix+"probability_"+class)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, &dataset.DataError{
			File: file.URL, Problem: "the footer names no tree (espalier.tree_sha256), expected a file that predict has written",
			Hint: "score the rows again, or name other files by --predictions",
		}
	}
	return list, nil
}

// classesOf lists the classes of the probabilities in a file, which follow the prediction.
func classesOf(file *parquetio.File, prefix string) []string {
	var classes []string
	at := slices.IndexFunc(file.Columns(), func(c parquetio.Column) bool { return c.Name == prefix+"prediction" })
	for _, c := range file.Columns()[at+1:] {
		class, ok := strings.CutPrefix(c.Name, prefix+"probability_")
		if !ok {
			break
		}
		classes = append(classes, class)
	}
	return classes
}

// manifestOf returns the manifest in the nearest folder above a file of predictions that has one, and the name of the
// file below that folder. The manifest is empty without such a folder.
func (j *join) manifestOf(ctx context.Context, file string) (m *runfolder.PredictionsManifest, name string) {
	folders, _ := j.Files.Store.Above(file) // none: unknown
	name = path.Base(file)
	for _, folder := range folders {
		m, known := j.manifests[folder]
		if !known {
			if r, err := runfolder.Read(ctx, j.Files.Store, folder, runfolder.Predictions, runfolder.DataManifestName); err == nil {
				m = r.Predictions
			}
			j.manifests[folder] = m
		}
		if m != nil {
			return m, name
		}
		name = path.Join(path.Base(folder), name)
	}
	return new(runfolder.PredictionsManifest), name
}

// dayOf returns the day with a name.
func (t *scored) dayOf(name string) *day {
	d := t.days[name]
	if d == nil {
		d = &day{LiveDay: runfolder.LiveDay{Day: name}, seen: make(map[string]*metric.Leaf)}
		t.days[name] = d
	}
	return d
}

// entry returns the entry of a prediction, given its bytes. A new entry is made by leaf.
func (d *day) entry(key []byte, leaf func() *metric.Leaf) *metric.Leaf {
	l := d.seen[string(key)]
	if l == nil {
		if len(d.seen) == maxSeen {
			clear(d.seen)
		}
		l = leaf()
		d.seen[string(key)] = l
		d.leaves = append(d.leaves, l)
	}
	return l
}
