package gorows

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

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
	s.binding.Strict = true
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

// Predict returns the prediction for a row, a map of values by column name. A value is a number, a
// string, a bool, a time.Time, or a pointer to one of these. Numbers may be written as text, and
// points in time as ISO 8601 text. An absent name and nil are missing values. Predict returns an
// error for an unknown name, for an empty text or a bool if the feature is numeric, and for an
// integer that float64 cannot hold exactly. Note that encoding/json rounds such integers silently
// unless json.Decoder.UseNumber is set.
func (s *MapScorer) Predict(row map[string]any) (*tree.Prediction, error) {
	values, err := s.values(row)
	if err != nil {
		return nil, err
	}
	return s.binding.Scorer.Predict(values)
}

// PredictInto is Predict into memory of the caller: see tree.Scorer.PredictInto. Reading the map
// allocates memory in both.
func (s *MapScorer) PredictInto(row map[string]any, p *tree.Prediction) error {
	values, err := s.values(row)
	if err != nil {
		return err
	}
	return s.binding.Scorer.PredictInto(values, p)
}

// values returns the values of a row, one per input.
func (s *MapScorer) values(row map[string]any) ([]tree.Value, error) {
	cells, err := s.cells(row)
	return binding.AppendValues(nil, cells), err
}

// cells returns the cells of a row, one per input.
func (s *MapScorer) cells(row map[string]any) ([]rowtype.Cell, error) {
	if err := s.check(row); err != nil {
		return nil, err
	}
	return s.binding.Read(row, nil)
}

// check returns an error if a name is unknown.
func (s *MapScorer) check(row map[string]any) error {
	var faults []error
	for name := range row {
		if !s.known[name] {
			faults = append(faults, fmt.Errorf("no column is called %q, only %q; NewMapScorer takes the names of others", name,
				s.names))
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}
