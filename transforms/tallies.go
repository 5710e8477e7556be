package transforms

import "github.com/espalier-ml/espalier/induce/dataset"

// mergeTalliesFn merges the tallies of a key.
type mergeTalliesFn struct{}

// tallies are encoded tallies. They are merged once the new ones take as many bytes as
// the merged one, so that no row is merged more than a few times.
type tallies struct {
	list   [][]byte // the merged tally, then new ones
	merged int      // bytes of the merged tally
	bytes  int      // bytes of the new ones
}

func (t *tallies) add(b []byte) error {
	t.list = append(t.list, b)
	if t.bytes += len(b); t.bytes < max(t.merged, 1<<20) {
		return nil
	}
	return t.merge()
}

func (t *tallies) merge() error {
	if len(t.list) < 2 {
		return nil
	}
	b, err := dataset.MergeTallies(t.list...)
	*t = tallies{list: [][]byte{b}, merged: len(b)}
	return err
}

func encodeTallies(t tallies) ([]byte, error) {
	if len(t.list) == 0 {
		return nil, nil
	}
	err := t.merge()
	return t.list[0], err
}

func decodeTallies(b []byte) tallies {
	if len(b) == 0 {
		return tallies{}
	}
	return tallies{list: [][]byte{b}, merged: len(b)}
}

func (f *mergeTalliesFn) CreateAccumulator() tallies { return tallies{} }

func (f *mergeTalliesFn) AddInput(t tallies, b []byte) (tallies, error) {
	err := t.add(b)
	return t, err
}

func (f *mergeTalliesFn) MergeAccumulators(t, o tallies) (tallies, error) {
	for _, b := range o.list {
		if err := t.add(b); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (f *mergeTalliesFn) ExtractOutput(t tallies) ([]byte, error) { return encodeTallies(t) }
