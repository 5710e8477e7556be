package gorows

import (
	"maps"
	"reflect"
	"slices"

	"github.com/espalier-ml/espalier/induce/binding"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// MapScorer scores maps by their keys, such as the maps that encoding/json makes from JSON objects.
// It is read-only, so goroutines may share it.
type MapScorer struct {
	binding *binding.Binding
	known   map[string]bool
	names   []string         // known names, sorted
	watches []*dataset.Watch // by tested feature
}

// NewMapScorer returns a scorer of maps. Each key of a row must be the name of a feature in the
// tree.json or a name in unused, which lists further columns of the rows, such as the other columns
// in schema.json.
func NewMapScorer(t *tree.Tree, unused ...string) (*MapScorer, error) {
	schema, err := rowtype.SchemaOf(reflect.TypeFor[map[string]any]())
	if err != nil {
		return nil, err
	}
	s := &MapScorer{known: make(map[string]bool)}
	if s.binding, err = binding.New(t, schema); err != nil {
		return nil, err
	}
	for i := range t.Features {
		s.known[t.Features[i].Name] = true
	}
	for _, name := range unused {
		s.known[name] = true
	}
	s.names = slices.Sorted(maps.Keys(s.known))
	for _, input := range s.binding.Scorer.Features() {
		s.watches = append(s.watches, dataset.NewWatch(&t.Features[input.Feature]))
	}
	return s, nil
}

// Features returns the features that the tree tests, as tree.Scorer.Features does.
func (s *MapScorer) Features() []tree.Input { return s.binding.Scorer.Features() }

// Predict returns the prediction for a row, a map of values by column name: see DecodeJSON, and
// tree.Input.Value for how values are read. An absent name is a missing value. Predict returns a
// *dataset.DataError for a value that cannot be used, and for an unknown name; errors.As returns the
// first of several.
func (s *MapScorer) Predict(row map[string]any) (*tree.Prediction, error) {
	var room [narrow]tree.Value
	values, err := s.values(row, room[:0])
	if err != nil {
		return nil, err
	}
	return s.binding.Scorer.Predict(values)
}

// PredictInto is Predict into memory of the caller: see tree.Scorer.PredictInto.
func (s *MapScorer) PredictInto(row map[string]any, p *tree.Prediction) error {
	var room [narrow]tree.Value
	values, err := s.values(row, room[:0])
	if err != nil {
		return err
	}
	return s.binding.Scorer.PredictInto(values, p)
}

// values appends the values of a row to dst, one per input.
func (s *MapScorer) values(row map[string]any, dst []tree.Value) ([]tree.Value, error) {
	var room [narrow]rowtype.Cell
	cells, err := s.cells(row, room[:0])
	return binding.AppendValues(dst, cells), err
}

// cells appends the cells of a row to dst, one per input.
func (s *MapScorer) cells(row map[string]any, dst []rowtype.Cell) ([]rowtype.Cell, error) {
	if err := s.check(row); err != nil {
		return nil, err
	}
	return s.binding.Read(row, dst)
}

// check returns an error if a name is unknown. To count the known names takes half the time of going
// through the names of a row, unless it lacks most of them.
func (s *MapScorer) check(row map[string]any) error {
	if len(s.names) <= 2*len(row) {
		found := 0
		for _, name := range s.names {
			if _, ok := row[name]; ok {
				found++
			}
		}
		if found == len(row) {
			return nil
		}
	}
	var unknown []string
	for name := range row {
		if !s.known[name] {
			unknown = append(unknown, name)
		}
	}
	return rowtype.Unknown(unknown, s.names)
}
