package inmemory

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
)

// heavyObject is an object that is heavy for a criterion, see split.Heavy.
type heavyObject struct {
	id  int32
	sum split.Heavy
}

// heavy returns the heavy objects of the node, and adds them to to.Heavy.
func (g *grower) heavy(o *openNode, to *grow.Tree) []heavyObject {
	criterion := g.Criteria[to.Tree]
	if !criterion.IsHeavy(g.heaviest) || !to.Totals.Paired() {
		return nil
	}
	var heavy []heavyObject
	for i := range o.objects() {
		id := o.at(i)
		if weight := o.table.weightOf(id); criterion.IsHeavy(weight) {
			h := heavyObject{id, split.NewHeavy(weight, to.Totals.Weight)}
			heavy = append(heavy, h)
			to.Heavy.Add(&h.sum)
		}
	}
	return heavy
}

// heavySums returns the sums of the heavy objects by code of a feature. The next call reuses the
// memory of the result. It is nil without heavy objects.
func (w *workspace) heavySums(heavy []heavyObject, codes *dataset.Codes, n int) []split.Heavy {
	if len(heavy) == 0 {
		return nil
	}
	for _, code := range w.heavies {
		w.heavy[code] = split.Heavy{}
	}
	w.heavies = w.heavies[:0]
	if len(w.heavy) < n {
		w.heavy = make([]split.Heavy, n)
	}
	for i := range heavy {
		code := codes.At(int(heavy[i].id))
		w.heavy[code].Add(&heavy[i].sum)
		w.heavies = append(w.heavies, int32(code))
	}
	return w.heavy[:n]
}
