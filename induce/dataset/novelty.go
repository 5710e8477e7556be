package dataset

// Novelty counts the rows whose value of a feature is missing, or new against the
// training rows.
type Novelty struct {
	Missing int64 // rows without a value
	// Unseen counts rows without a value if all training rows had one, and rows with an
	// unlisted value of a categorical feature, including values of the tail.
	Unseen  int64
	Outside int64 // numeric: rows outside of Feature.Range; 0 if the range is unknown
}

// Add adds the counts of other rows.
func (n *Novelty) Add(other Novelty) {
	n.Missing += other.Missing
	n.Unseen += other.Unseen
	n.Outside += other.Outside
}

// New returns the number of rows with new values: unseen or outside.
func (n *Novelty) New() int64 { return n.Unseen + n.Outside }

// Watch counts the new values of a feature. It is read-only, so goroutines may share it.
type Watch struct {
	categories *Categories // nil for a numeric feature
	complete   bool        // all training rows had a value
	bounded    bool
	low, high  float64
}

// NewWatch returns the watch of a feature.
func NewWatch(f *Feature) *Watch {
	w := &Watch{categories: f.Categories(), complete: f.Missing == 0}
	if w.bounded = len(f.Range) == 2; w.bounded {
		w.low, w.high = f.Range[0], f.Range[1]
	}
	return w
}

// Count counts the rows of a column. For a numeric feature the column must hold numbers.
func (w *Watch) Count(v *Vector) Novelty { return w.judged(w.count(v)) }

// judged adds the missing values to the unseen ones if training had none.
func (w *Watch) judged(n Novelty) Novelty {
	if w.complete {
		n.Unseen += n.Missing
	}
	return n
}

// Missing counts a row without a value.
func (w *Watch) Missing() Novelty { return w.judged(Novelty{Missing: 1}) }

// count is Count, with missing values that are not judged.
func (w *Watch) count(v *Vector) Novelty {
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
		} else {
			entries[i] = w.Text(v.Texts[i])
		}
		anything = anything || entries[i] != Novelty{}
	}
	return entries, anything
}

// Text counts a row with a text, which only categorical features have.
func (w *Watch) Text(text string) (n Novelty) {
	if w.categories != nil && w.categories.Text(text) == w.categories.other {
		n.Unseen = 1
	}
	return n
}

// Number counts a row with a number; NaN is missing.
func (w *Watch) Number(x float64) Novelty { return w.judged(w.number(x)) }

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

// numbers counts the values of a numeric feature. Its loop runs over all rows of a plain
// column.
func (w *Watch) numbers(numbers []float64) (n Novelty) {
	low, high := w.low, w.high
	for _, x := range numbers {
		switch {
		case x >= low && x <= high:
		case x != x:
			n.Missing++
		case x < low && isNear(x, low), x > high && isNear(x, high):
		default:
			n.Outside++
		}
	}
	if !w.bounded {
		n.Outside = 0
	}
	return n
}

// isNear reports whether one of two numbers is the float32 of the other.
func isNear(x, y float64) bool { return IsSingle(x, y) || IsSingle(y, x) }
