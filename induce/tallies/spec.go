package tallies

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
)

// Spec is the checked settings of a training together with the columns of the rows.
type Spec struct {
	Settings settings.Settings       `json:"settings"`
	Features []string                `json:"features"` // columns that the tree may test; empty: all without another use
	Strict   bool                    `json:"strict"`   // maps must have a key for each column
	Ordered  bool                    `json:"ordered"`  // without a column that decides, the position of a row decides on its part
	Schema   *rowtype.Schema         `json:"schema"`
	Columns  []dataset.FeatureColumn `json:"columns"`   // the features
	Classes  []string                `json:"classes"`   // classes of the label; empty: the classes of the rows
	LeaveOut bool                    `json:"leave_out"` // a text with too many values is left out
	Spell    bool                    `json:"spell"`     // in maps, values of the label and of categories are texts, as they are spelled

	Measures bool `json:"measures"` // rows keep their groups, for intervals of metrics: see Measured

	Part string `json:"part"` // column that determines the part of a row; optional

	label, weight *rowtype.Column
}

// Bind checks the settings, and finds their columns among the columns of the schema. The error names all
// faults at once.
func (s *Spec) Bind() error {
	faults := append(s.Settings.Faults(settings.FieldName), settings.CheckMembers(s.members(), "", settings.FieldName))
	return errors.Join(errors.Join(faults...), s.checkSplit(), s.bind())
}

// Digest identifies how rows are tallied, in 8 bytes: tallies of equal digests may be merged.
func (s *Spec) Digest() []byte {
	c := &s.Settings
	parts := []any{
		s.Schema.Map, s.Spell, s.Schema.Columns, s.Columns, s.Classes, s.Part, c.Label, c.Weight, c.Split, c.SplitColumn, c.Group, s.groups(), c.Seed,
	}
	if s.buckets() && s.groups() == 0 { // because of Measures alone: other digests are as before there were any
		parts = append(parts, "buckets")
	}
	form, err := json.Marshal(parts)
	if err != nil {
		panic(err) // only texts and numbers
	}
	return binary.BigEndian.AppendUint64(nil, dataset.HashContent(form))
}

// Open finds the columns of a decoded Spec, which Bind has checked, among the columns of the schema.
func (s *Spec) Open() error { return s.bindLabel() }

// bind finds the columns of the configuration among the columns of the rows.
func (s *Spec) bind() error {
	c := &s.Settings
	faults := []error{s.bindLabel(), s.checkIgnore()}
	names := s.names()
	switch {
	case len(names) > 0:
	case s.Schema.Map && !s.Ordered:
		faults = append(faults,
			fmt.Errorf("rows are of type %s, whose columns are unknown here: name the Features", s.Schema.Type))
	default:
		faults = append(faults, fmt.Errorf("rows of type %s have no field that may be tested: there must be one "+
			"besides Label, Weight and Ignore", s.Schema.Type))
	}
	for _, name := range names {
		f, err := s.feature(name)
		faults = append(faults, err)
		s.Columns = append(s.Columns, f)
	}
	faults = append(faults, repeated("Features", s.Features), s.checkAreFeatures("Categorical", c.Categorical, names),
		s.checkAreFeatures("Numeric", c.Numeric, names),
		s.checkAreFeatures("First", slices.DeleteFunc(slices.Clone(c.First), func(f string) bool { return f == "" }), names),
		s.checkAreFeatures("Monotone", slices.Sorted(maps.Keys(c.Monotone)), names),
		s.checkAreFeatures("Ordered", slices.Sorted(maps.Keys(c.Ordered)), names),
		s.checkAreFeatures("Cuts", slices.Sorted(maps.Keys(c.Cuts)), names))
	chosen := c.Selection()
	faults = append(faults, c.CheckUnits(c.FurtherUnits(), c.CostUnit, settings.FieldName))
	if chosen.Demand != nil && c.LeafModel != selection.None {
		faults = append(faults, fmt.Errorf("the LeafModel %s: tallies of rows have no values to score for a demand: choose none", c.LeafModel))
	}
	priced := c.Features()
	for _, list := range slices.Sorted(maps.Keys(priced)) {
		faults = append(faults, s.checkAreFeatures(list, priced[list], names))
	}
	return errors.Join(faults...)
}

// names returns the names of the features.
func (s *Spec) names() []string {
	if len(s.Features) > 0 {
		return s.Features
	}
	return s.defaultFeatures()
}

// defaultFeatures returns all columns except the label, the weight and the ignored
// ones.
func (s *Spec) defaultFeatures() []string {
	c := &s.Settings
	var names []string
	for i := range s.Schema.Columns {
		name := s.Schema.Columns[i].Name
		if name != c.Label && name != c.Weight && name != s.Part && !slices.Contains(c.Ignore, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkIgnore checks that the columns of Ignore exist and are no features. They may be
// columns that Train cannot read. The keys of maps are unknown here.
func (s *Spec) checkIgnore() error {
	c := &s.Settings
	faults := []error{repeated("Ignore", c.Ignore)}
	for _, name := range c.Ignore {
		switch {
		case slices.Contains(s.Features, name):
			faults = append(faults,
				fmt.Errorf("the Ignore: column %q is also named in Features: remove it from one of them", name))
		case !s.Schema.Map && !s.Schema.Has(name):
			faults = append(faults, fmt.Errorf("the Ignore: rows of type %s have no field for column %q, only for %q",
				s.Schema.Type, name, s.Schema.Names()))
		}
	}
	return errors.Join(faults...)
}

// checkAreFeatures checks that all names of a list are features.
func (s *Spec) checkAreFeatures(list string, names, features []string) error {
	faults := []error{repeated(list, names)}
	for _, name := range names {
		if !slices.Contains(features, name) {
			faults = append(faults, fmt.Errorf("the %s: %q is not a feature, want one of %q", list, name, features))
		}
	}
	return errors.Join(faults...)
}

// repeated returns an error for each name that a list has twice.
func repeated(list string, names []string) error {
	var faults []error
	for i, name := range names {
		if at := slices.Index(names, name); at < i && !slices.Contains(names[at+1:i], name) {
			faults = append(faults, fmt.Errorf("the %s: %q stands there twice, want it once", list, name))
		}
	}
	return errors.Join(faults...)
}

// bindLabel finds the columns of the label and of the weights.
func (s *Spec) bindLabel() error {
	c := &s.Settings
	if c.Label == "" {
		return errors.New("no Label: want the column of classes")
	}
	var err, err2 error
	s.label, err = s.Schema.Column(c.Label)
	if c.Weight != "" {
		if s.weight, err2 = s.Schema.Column(c.Weight); err2 == nil {
			if s.weight.Type == dataset.Text || c.Weight == c.Label {
				err2 = fmt.Errorf("rows of type %s: the weights in column %q are texts or the label, want numbers in a column "+
					"of their own", s.Schema.Type, c.Weight)
			}
		}
	}
	return errors.Join(err, err2)
}

// feature returns how the column of a feature is read.
func (s *Spec) feature(name string) (dataset.FeatureColumn, error) {
	c := &s.Settings
	column, err := s.Schema.Column(name)
	if err != nil {
		return dataset.FeatureColumn{}, err
	}
	if name == c.Label || name == c.Weight || name == s.Part {
		return dataset.FeatureColumn{}, fmt.Errorf("column %q is the label, the weight or decides on the part of a row, want "+
			"a feature", name)
	}
	f := dataset.FeatureColumn{Name: name, Kind: dataset.Numeric, Type: column.Type, Unit: column.Unit}
	numeric := slices.Contains(c.Numeric, name)
	switch {
	case numeric:
		f.Type = dataset.Number
	case column.Type == dataset.Text || slices.Contains(c.Categorical, name):
		f.Kind = dataset.Categorical
	case column.Type == 0: // the rows decide
		f.Kind = 0
	}
	return f, nil
}

// parted reports whether some rows may be set aside.
func (s *Spec) parted() bool {
	_, whole := s.Settings.Split.Whole()
	return s.Part != "" || s.Ordered && !whole
}

// Weighted reports whether rows have weights of their own.
func (s *Spec) Weighted() bool { return s.Settings.Weight != "" }

// weighs reports whether classes have weights.
func (s *Spec) weighs() bool { return s.Settings.Weighs() }

// members returns the trees of the grid, without their bins.
func (s *Spec) members() []grid.Member {
	c := &s.Settings
	chosen := c.Selection()
	return c.WithPricing(c.Members(false), &chosen.Query, s.names())
}

// checkSplit finds the column that decides on a row's part.
func (s *Spec) checkSplit() error {
	c := &s.Settings
	_, whole := c.Split.Whole()
	switch s.Part = cmp.Or(c.SplitColumn, c.Group); {
	case c.SplitColumn != "" && c.Group != "":
		return fmt.Errorf("the Group %q: the column %q names each row's part already, leave out one of the two", c.Group, c.SplitColumn)
	case s.Part == "" && !whole && !s.Ordered:
		return fmt.Errorf("the Split %s has no Group: rows of a PCollection have no order, want a column whose value decides "+
			"on the part of a row, or the Split 100/0/0, with which folds of the rows choose the tree", c.Split)
	case s.Part == "":
		return nil
	case s.Part == c.Label || s.Part == c.Weight:
		return fmt.Errorf("the Split: column %q is the label or the weight, want another one", s.Part)
	}
	_, err := s.Schema.Column(s.Part)
	return err
}
