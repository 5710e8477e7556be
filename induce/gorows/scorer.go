package gorows

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/espalier-ml/espalier/induce/binding"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Scorer scores structs of type T by their fields. It is read-only, so goroutines may
// share it.
type Scorer[T any] struct {
	binding *binding.Binding
	fields  []field            // by input
	tests   []test             // nil if some feature is categorical
	leaves  []*tree.Prediction // by node; nil if the node is not a leaf without a model
}

// test is a tree.Link with the field of its input, so that only the fields on a row's path are
// read.
type test struct {
	tree.Link

	field field
}

// NewScorer finds a field of T for each feature that the tree tests: see the package comment. The
// error names all features that have no field, or a field of the wrong type.
func NewScorer[T any](t *tree.Tree) (*Scorer[T], error) {
	typ := reflect.TypeFor[T]()
	if typ.Kind() != reflect.Struct {
		return nil, fmt.Errorf("rows are of type %s, want a struct: NewMapScorer takes maps", typ)
	}
	schema, err := rowtype.SchemaOf(typ)
	if err != nil {
		return nil, err
	}
	s := new(Scorer[T])
	if s.binding, err = binding.New(t, schema); err != nil {
		return nil, err
	}
	for i := range s.binding.Columns {
		s.fields = append(s.fields, fieldOf(typ, &s.binding.Columns[i]))
	}
	for _, link := range s.binding.Scorer.Links() {
		to := test{Link: link}
		if link.Input < tree.IsLeaf {
			to.field = s.fields[link.Input]
		}
		s.tests = append(s.tests, to)
	}
	for node := range t.Nodes {
		var p *tree.Prediction
		if _, modelled := s.binding.Scorer.ModelOf(node); !modelled {
			p = s.binding.Scorer.LeafPrediction(node)
		}
		s.leaves = append(s.leaves, p)
	}
	return s, nil
}

// Features returns the features that the tree tests, as tree.Scorer.Features does.
func (s *Scorer[T]) Features() []tree.Input { return s.binding.Scorer.Features() }

// Predict returns the prediction for a row. The prediction must not be changed. Predict allocates
// memory at leaves with models, where PredictInto does not, and for trees that test more than 32
// features, some of them categorical. It returns an error for a value that cannot be used, such as
// an integer that float64 cannot hold exactly, and for a nil row.
func (s *Scorer[T]) Predict(row *T) (*tree.Prediction, error) {
	if row == nil {
		return nil, nilRow[T]()
	}
	if s.tests != nil {
		leaf, err := s.leaf(row)
		if err != nil {
			return nil, err
		}
		if p := s.leaves[leaf]; p != nil {
			return p, nil
		}
	}
	var room [narrow]tree.Value
	values, err := s.values(row, room[:0])
	if err != nil {
		return nil, err
	}
	return s.binding.Scorer.Predict(values)
}

// PredictInto is Predict into memory of the caller: see tree.Scorer.PredictInto.
func (s *Scorer[T]) PredictInto(row *T, p *tree.Prediction) error {
	if row == nil {
		return nilRow[T]()
	}
	var room [narrow]tree.Value
	values, err := s.values(row, room[:0])
	if err != nil {
		return err
	}
	return s.binding.Scorer.PredictInto(values, p)
}

func nilRow[T any]() error { return rowtype.NilRow(reflect.TypeFor[*T]().String()) }

// leaf returns the id of the leaf that a row reaches, and reads only the fields on its path.
func (s *Scorer[T]) leaf(row *T) (uint32, error) {
	base := unsafe.Pointer(row)
	for at := uint32(0); ; {
		n := &s.tests[at]
		if n.Input >= tree.IsLeaf {
			return n.Input - tree.IsLeaf, nil
		}
		var x float64
		if n.field.kind == inFloat64 && !n.field.pointer { // the usual case, without a call
			x = *(*float64)(unsafe.Add(base, n.field.offset))
		} else if y, ok := n.field.number(base); ok {
			x = y
		} else {
			v, err := s.reflected(int(n.Input), row)
			if err != nil {
				return 0, err
			}
			x = v.AsFloat()
		}
		if x >= n.Cut {
			at = n.Yes
		} else {
			at++
		}
	}
}

// narrow is how many inputs fit into an array of values on the stack.
const narrow = 32

// values appends the values of a row to dst, one per input.
func (s *Scorer[T]) values(row *T, dst []tree.Value) ([]tree.Value, error) {
	base := unsafe.Pointer(row)
	for i := range s.fields {
		v, ok := s.fields[i].value(base)
		if !ok {
			x, err := s.reflected(i, row)
			if err != nil {
				return nil, err
			}
			v = tree.CellValue(&x)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// reflected returns the value of an input in a row, read by reflection.
func (s *Scorer[T]) reflected(input int, row *T) (rowtype.Cell, error) {
	return s.binding.Cell(input, reflect.ValueOf(row).Elem())
}
