package dataset

// Novelty counts rows by what is new about a feature's values, as against the
// training rows.
type Novelty struct {
	Missing int64 // no value
	Unseen  int64 // categorical: values that are not listed, with those that were cut off as tail
	Outside int64 // numeric: numbers below the least of training or above the greatest, where these are known
}

// Add adds the counts of other rows.
func (n *Novelty) Add(other Novelty) {
	n.Missing += other.Missing
	n.Unseen += other.Unseen
	n.Outside += other.Outside
}

// New returns the rows with values that training did not have.
func (n *Novelty) New() int64 { return n.Unseen + n.Outside }

// Watch tells which values of a feature are new. It does not change after NewWatch
// and may be used from several goroutines.
type Watch struct {
	categories *Categories // nil: the feature is numeric
	bounded    bool
	low, high  float64
}

// NewWatch returns the watch of a feature.
func NewWatch(f *Feature) *Watch {
	w := &Watch{categories: f.Categories()}
	if w.bounded = len(f.Range) == 2; w.bounded {
		w.low, w.high = f.Range[0], f.Range[1]
	}
	return w
}

// Count counts the rows of a column, which a numeric feature must have as numbers.
func (w *Watch) Count(v *Vector) Novelty {
	var n Novelty
	if v.Index == nil {
		if w.categories == nil {
			return w.numbers(v.Numbers)
		}
		for _, x := range v.Numbers {
			n.Add(w.number(x))
		}
		return n
	}
	entries, anything := w.entries(v)
	for _, i := range v.Index {
		if i < 0 {
			n.Missing++
		} else if anything {
			n.Add(entries[i])
		}
	}
	return n
}

// entries counts each entry of a dictionary as one row, and reports whether there
// is anything to count.
func (w *Watch) entries(v *Vector) (entries []Novelty, anything bool) {
	entries = make([]Novelty, max(len(v.Texts), len(v.Numbers)))
	for i := range entries {
		if v.Type == Number {
			entries[i] = w.number(v.Numbers[i])
		} else if w.categories.Text(v.Texts[i]) == w.categories.other {
			entries[i].Unseen = 1
		}
		anything = anything || entries[i] != Novelty{}
	}
	return entries, anything
}

func (w *Watch) number(x float64) (n Novelty) {
	if w.categories == nil {
		return w.numbers([]float64{x})
	}
	if x != x {
		n.Missing = 1
	} else if w.categories.Number(x) == w.categories.other {
		n.Unseen = 1
	}
	return n
}

// numbers counts the values of a numeric feature. All rows of a plain column come
// through its loop.
func (w *Watch) numbers(numbers []float64) (n Novelty) {
	low, high := w.low, w.high
	for _, x := range numbers {
		switch {
		case x >= low && x <= high:
		case x != x:
			n.Missing++
		default:
			n.Outside++
		}
	}
	if !w.bounded {
		n.Outside = 0
	}
	return n
}
