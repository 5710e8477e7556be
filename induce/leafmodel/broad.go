package leafmodel

import (
	"fmt"
	"sync"
)

// broad is a node with enough objects to fit all features that the leaves below ask for. The fit of
// a leaf with few objects starts from such a fit, because its own objects say too little about the
// last features on its path.
type broad struct {
	layer *layer  // the last fit above
	ids   []int32 // objects of the node
	asked []int   // numeric features that the path to the node asks for, ascending

	rows func() *codedRows
	lock sync.Mutex
	fits map[string]func() *layer // by the asked features of a leaf
}

// broaden makes a node the broad node of the leaves below if it has enough objects or is the root.
func (f *fitter) broaden(p *place) {
	if f.options.Broad > 0 && (p.broad == nil || len(p.ids) >= f.options.Broad) {
		b := &broad{layer: p.layer, ids: p.ids, asked: p.asked}
		b.rows = sync.OnceValue(func() *codedRows { return f.codedRows(b) })
		p.broad = b
	}
}

// fitBroad returns the fit from which the fit of a leaf with few objects starts. Leaves that ask
// for the same features share it.
func (f *fitter) fitBroad(leaf *place) *layer {
	b := leaf.broad
	asked := leaf.asked
	key := fmt.Sprint(asked)
	b.lock.Lock()
	fit := b.fits[key]
	if fit == nil {
		if b.fits == nil { // few nodes need it
			b.fits = make(map[string]func() *layer)
		}
		fit = sync.OnceValue(func() *layer { return b.fit(f, asked) })
		b.fits[key] = fit
	}
	b.lock.Unlock()
	return fit()
}

// fit fits the node to the asked features.
func (b *broad) fit(f *fitter, asked []int) *layer {
	rows := b.rows()
	made := &layer{above: b.layer, objects: len(b.ids), intercept: make([]float64, f.scores)}
	if rows.start != nil {
		r, _ := f.coded.Get().(*regression)
		if r == nil {
			r = new(regression)
		}
		defer f.coded.Put(r)
		made.whole = rows.start.rows == len(b.ids)
		terms, bases := rows.termsOf(f, asked)
		f.penalise(r, bases, rows.wanted)
		r.share(rows, terms)
		r.fit()
		made.take(r, bases, rows.wanted)
	}
	if len(rows.wanted.absent) > 0 {
		r := new(regression)
		f.gather(r, asked, b.ids[:min(len(b.ids), faded)])
		f.fade(r, made, b.ids, rows.wanted)
	}
	return made
}

// codedRows returns the rows that the fits of a broad node share.
func (f *fitter) codedRows(b *broad) *codedRows {
	s := &codedRows{wanted: f.wanted(&place{layer: b.layer, ids: b.ids})}
	if len(s.wanted.scores) <= 1 && f.scores > 1 {
		return s
	}
	r := new(regression)
	s.start = r
	s.ids = b.ids[:min(len(b.ids), f.bound)]
	f.gather(r, b.asked, s.ids)
	f.begin(r, b.layer, s.ids, s.wanted)
	r.probabilities = make([]float64, r.rows*r.scores)
	s.loss, s.functions = r.loss(nil), r.functions()
	s.curvatures = make([]float64, 0, r.rows*r.scores)
	for k := range r.scores {
		for i, weight := range r.weight {
			s.curvatures = append(s.curvatures, float64(weight*r.curvature(r.probabilities[i*r.scores+k])))
		}
	}
	s.constant = &codedTerm{entries: make([]uint16, r.rows), values: []functions{{1}}, columns: 1}
	s.terms = make(map[int]*codedTerm)
	s.products = make(map[[2]*codedTerm][]product)
	return s
}

// termsOf returns the constant and the terms of the asked features, and the bases of these features.
func (s *codedRows) termsOf(f *fitter, asked []int) (terms []*codedTerm, bases []*basis) {
	s.lock.Lock()
	defer s.lock.Unlock()
	terms = append(terms, s.constant)
	for _, feature := range asked {
		t, found := s.terms[feature]
		if !found {
			t = s.newTerm(f, feature)
			s.terms[feature] = t
		}
		if t != nil {
			terms = append(terms, t)
			bases = append(bases, t.basis)
		}
	}
	return terms, bases
}

// newTerm returns the term of a feature; nil if its basis has no function.
func (s *codedRows) newTerm(f *fitter, feature int) *codedTerm {
	if s.functions == 0 {
		return nil
	}
	f.gather(s.start, []int{feature}, s.ids)
	b := f.basis(s.start, feature, s.functions)
	if b == nil {
		return nil
	}
	t := &codedTerm{basis: b, columns: b.columns, values: make([]functions, b.last-b.first+2)}
	for at := range t.values {
		copy(t.values[at][:], b.values[at*b.columns:][:b.columns])
	}
	for _, code := range s.start.codesOf(feature, s.start.rows) {
		t.entries = append(t.entries, uint16(b.at(int(code))))
	}
	return t
}
