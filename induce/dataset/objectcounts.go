package dataset

import "errors"

// ObjectCounts counts the objects of a part, or of one shard of it.
type ObjectCounts struct {
	Part         Part       `json:"part"`
	Rows         int64      `json:"rows"`
	Objects      int64      `json:"objects"`
	Heaviest     int64      `json:"heaviest"` // greatest weight of an object
	Weight       int64      `json:"weight"`
	ClassObjects []int64    `json:"class_objects"`   // by majority class
	ClassWeight  []int64    `json:"class_weight"`    // by majority class; of soft objects by the raw weights
	RawWeight    []int64    `json:"raw_weight"`      // by class of the rows; of soft objects the same as ClassWeight
	Relabelled   []int64    `json:"relabelled"`      // weight of rows whose class is not their object's, by class
	Codes        CodeCounts `json:"codes,omitempty"` // rows by feature and code; nil: not counted
}

// NewObjectCounts returns statistics without objects. counted has the features whose codes are
// counted.
func NewObjectCounts(part Part, classes int, counted []Feature) *ObjectCounts {
	s := &ObjectCounts{
		Part: part, ClassObjects: make([]int64, classes), ClassWeight: make([]int64, classes),
		RawWeight: make([]int64, classes), Relabelled: make([]int64, classes),
	}
	for i := range counted {
		s.Codes = append(s.Codes, make([]int64, counted[i].Codes()))
	}
	return s
}

// Count adds objects to the statistics. It counts codes only if Codes has a list for each feature.
func (s *ObjectCounts) Count(o *Objects) {
	for i := range o.Len() {
		s.AddObject(o.Labels(i), o.Raw(i), o.RowsOf(i))
	}
	for i, counts := range s.Codes {
		codes := &o.Codes[i]
		for j := range o.Len() {
			counts[codes.At(j)] += o.RowsOf(j)
		}
	}
}

// Check returns an error unless the counts may be of at most most objects of the classes. Counts of no objects may have
// no lists.
func (s *ObjectCounts) Check(classes int, most int64) error {
	left := most
	for _, n := range s.ClassObjects {
		if n < 0 || n > left {
			return errObjectCounts
		}
		left -= n
	}
	for _, list := range [][]int64{s.ClassObjects, s.ClassWeight, s.RawWeight, s.Relabelled} {
		if len(list) != classes && (len(list) > 0 || s.Objects > 0) {
			return errObjectCounts
		}
	}
	if s.Objects != most-left {
		return errObjectCounts
	}
	return nil
}

var errObjectCounts = errors.New("numbers of objects that its blocks do not have")

// SetRare sets the features' numbers of rows whose value is missing or in the tail.
func (s *ObjectCounts) SetRare(features []Feature) {
	for i, counts := range s.Codes {
		f := &features[i]
		f.Missing = counts[f.MissingCode()]
		if f.Kind == Categorical {
			f.Other = counts[f.OtherCode()]
		}
	}
}

// AddObject counts one object, from the weights of its labels and its raw class weights.
func (s *ObjectCounts) AddObject(labels, raw []ClassWeight, rows int64) {
	k, weight := Majority(labels)
	if &raw[0] != &labels[0] { // a soft object
		_, weight = Majority(raw)
		for _, cw := range raw {
			s.ClassWeight[cw.Class] += cw.Weight
		}
	} else {
		s.ClassWeight[k] += weight
	}
	for _, cw := range raw {
		s.RawWeight[cw.Class] += cw.Weight
	}
	s.Objects++
	s.Rows += rows
	s.Weight += weight
	s.Heaviest = max(s.Heaviest, weight)
	s.ClassObjects[k]++
	for _, cw := range labels {
		if cw.Class != k {
			s.Relabelled[cw.Class] += cw.Weight
		}
	}
}

// Add adds the figures of a shard, except for the rows by feature and code.
func (s *ObjectCounts) Add(o *ObjectCounts) {
	s.Rows += o.Rows
	s.Objects += o.Objects
	s.Heaviest = max(s.Heaviest, o.Heaviest)
	s.Weight += o.Weight
	s.Relabelled = AddTo(s.Relabelled, o.Relabelled)
	s.ClassObjects = AddTo(s.ClassObjects, o.ClassObjects)
	s.ClassWeight = AddTo(s.ClassWeight, o.ClassWeight)
	s.RawWeight = AddTo(s.RawWeight, o.RawWeight)
}

// AddCodes adds the rows by feature and code.
func (s *ObjectCounts) AddCodes(codes [][]int64) {
	if s.Codes == nil {
		s.Codes = make([][]int64, len(codes))
	}
	for i, rows := range codes {
		s.Codes[i] = AddTo(s.Codes[i], rows)
	}
}

// AddTo adds b to a, element by element. A nil a has zeros.
func AddTo(a, b []int64) []int64 {
	if a == nil {
		a = make([]int64, len(b))
	}
	for i, x := range b {
		a[i] += x
	}
	return a
}
