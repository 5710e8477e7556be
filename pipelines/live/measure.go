package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// measure returns the figures of all trees, in the order of their first day.
func (j *join) measure() []runfolder.LiveTree {
	var list []runfolder.LiveTree
	scale := j.spec.ScaleOf(dataset.Test)
	for _, t := range j.trees {
		live := runfolder.LiveTree{Run: t.Run, Digest: t.Digest}
		var all []*metric.Leaf
		for _, name := range slices.Sorted(maps.Keys(t.days)) {
			d := t.days[name]
			d.setSquares()
			d.Metrics = measured(d.leaves, t.classes, scale)
			live.Days = append(live.Days, d.LiveDay)
			all = append(all, d.leaves...)
			live.All.Predictions += d.Predictions
			live.All.Shadow += d.Shadow
			live.All.Labelled += d.Labelled
			live.All.OtherClass += d.OtherClass
		}
		live.All.Day = live.Days[0].Day
		if last := live.Days[len(live.Days)-1].Day; last != live.All.Day {
			live.All.Day += " to " + last
		}
		live.All.Metrics = measured(all, t.classes, scale)
		if n := live.All.OtherClass; n > 0 {
			j.Reporter.Warn(fmt.Sprintf("%s: %d labels are none of the tree's classes, and are not measured", t.Run, n))
		}
		list = append(list, live)
	}
	slices.SortFunc(list, func(a, b runfolder.LiveTree) int {
		return cmp.Or(cmp.Compare(a.Days[0].Day, b.Days[0].Day), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Digest, b.Digest))
	})
	return list
}

// setSquares sets the squared weights of the predictions, if rows have unequal weights.
func (d *day) setSquares() {
	if d.heavy == nil {
		return
	}
	for _, l := range d.leaves {
		l.Squares = make([]float64, len(l.Weights))
		for class := range l.Squares {
			for weight := range uint8(dataset.Buckets) { // in the same order, whatever the order of the rows
				if s := d.heavy[heavyRows{l, class, weight}]; s.rows > 0 {
					l.Squares[class] += float64(float64(s.weight)*float64(s.weight)) / float64(s.rows)
				}
			}
		}
	}
}

// measured returns the metrics of predictions; nil if no row has a label.
func measured(entries []*metric.Leaf, classes []string, scale float64) *metric.Metrics {
	var leaves []metric.Leaf
	for _, l := range entries {
		if l.Rows > 0 {
			leaves = append(leaves, *l)
		}
	}
	if len(leaves) == 0 {
		return nil
	}
	m := metric.Evaluate(leaves, classes, scale)
	for i := range m.PerClass {
		m.PerClass[i].ROC = nil
	}
	return &m
}
