package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Task names a row group, or a scratch file with an object block.
type Task struct {
	File       string `json:"file"`
	Size       int64  `json:"size,omitempty"`       // of the file when it was listed
	Generation string `json:"generation,omitempty"` // of the file when it was listed
	RowGroup   int    `json:"row_group,omitempty"`
	RowGroups  int    `json:"row_groups,omitempty"` // from that one on; 0: it alone
	Output     string `json:"output,omitempty"`     // file that is made of it, where there is none
	// the task may be done several times: the same output is as good as none
	Repeated bool         `json:"repeated,omitempty"`
	Path     []PathColumn `json:"path,omitempty"` // columns of which the value stands in the file's path
	Part     dataset.Part `json:"part,omitempty"` // of a block
}

// PathColumn is a column that has one value in all rows of a file.
type PathColumn struct {
	Name   string            `json:"name"`
	Type   dataset.ValueType `json:"type"`
	Number float64           `json:"number,omitempty"`
	Text   string            `json:"text,omitempty"`
	Null   bool              `json:"null,omitempty"`
}

// Encode returns the task as an element.
func (t Task) Encode() []byte { return MustJSON(t) }

// decodeTask reads what Encode wrote.
func decodeTask(b []byte) (t Task, err error) {
	err = json.Unmarshal(b, &t)
	return t, err
}

// RowSpec says what the columns of a row are for.
type RowSpec struct {
	Features    []FeatureColumn `json:"features"`
	Label       string          `json:"label"`
	Weight      string          `json:"weight,omitempty"`       // column of row weights
	WeightScale int64           `json:"weight_scale,omitempty"` // fixed-point units per weight of 1
	SplitColumn string          `json:"split_column,omitempty"` // column that names each row's part
	// column whose hash decides the part; else the row's position does
	Key            string         `json:"key,omitempty"`
	Shares         dataset.Shares `json:"shares"`
	Seed           uint64         `json:"seed"`
	DropNullLabels bool           `json:"drop_null_labels,omitempty"`

	// ClassWeights are what the weights of training rows are multiplied by, by
	// class, in units of 1/FractionScale; empty: 1 each. TrainScale is the number of
	// fixed-point units in a product of 1, either 1 or FractionScale.
	ClassWeights []int64 `json:"class_weights,omitempty"`
	TrainScale   int64   `json:"train_scale,omitempty"`
}

// Weighted reports whether rows of some part weigh other than 1.
func (s *RowSpec) Weighted() bool { return s.Weight != "" || len(s.ClassWeights) > 0 }

// ScaleOf returns the fixed-point units in a weight of 1 of a part's rows.
func (s *RowSpec) ScaleOf(part dataset.Part) int64 {
	if part == dataset.Train && len(s.ClassWeights) > 0 {
		return s.TrainScale
	}
	return s.WeightScale
}

// FeatureColumn is a column that features are made of.
type FeatureColumn struct {
	Name string            `json:"name"`
	Kind dataset.Kind      `json:"kind"`
	Type dataset.ValueType `json:"type"` // of the values as the file has them
	Unit dataset.Unit      `json:"unit,omitempty"`
}

// Encode returns the specification as a field of a DoFn.
func (s *RowSpec) Encode() []byte { return MustJSON(s) }

// MustJSON encodes what has a JSON form at all times.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // plain structs of texts and numbers
		panic(err)
	}
	return b
}

// Columns lists what is read of a row group: the features, then the rest.
func (s *RowSpec) Columns() []string {
	names := make([]string, 0, len(s.Features)+4)
	for _, f := range s.Features {
		names = append(names, f.Name)
	}
	for _, name := range []string{s.Label, s.Weight, s.SplitColumn, s.Key} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// rowGroup is an opened row group of which label, weight and part of each row
// are known; its features can be decoded.
type rowGroup struct {
	dataset.RowGroup

	spec    *RowSpec
	task    Task
	label   dataset.Vector
	weights []int64        // per row, in fixed-point units; nil: 1 each
	total   int64          // weight of all rows, at most MaxTotalWeight
	parts   []dataset.Part // per row
	dropped int64          // rows without a label
	ignored int64          // rows of weight zero
	whole   bool           // all weights are whole numbers
}

// openTask is openRowGroup of an encoded task.
func openTask(ctx context.Context, spec *RowSpec, task []byte) (*rowGroup, error) {
	t, err := decodeTask(task)
	if err != nil {
		return nil, err
	}
	return openRowGroup(ctx, spec, t)
}

// openRowGroup opens the row group of a task. Nothing is decoded before
// prepare.
func openRowGroup(ctx context.Context, spec *RowSpec, task Task) (*rowGroup, error) {
	g := &rowGroup{spec: spec, whole: true, task: task}
	s, err := OpenStorage(ctx)
	if err != nil {
		return nil, err
	}
	g.RowGroup, err = s.RowGroup(ctx, g.task, spec.Columns())
	return g, err
}

// prepare decodes label, weights and parts.
func (g *rowGroup) prepare() error {
	next := len(g.spec.Features)
	read := func(dst *dataset.Vector) error {
		next++
		return g.ReadColumn(next-1, dst)
	}
	if err := read(&g.label); err != nil {
		return err
	}
	g.parts = make([]dataset.Part, g.Rows())
	if g.spec.Weight != "" {
		var v dataset.Vector
		if err := read(&v); err != nil {
			return err
		}
		if err := g.readWeights(&v); err != nil {
			return err
		}
	}
	if err := g.assignParts(read); err != nil {
		return err
	}
	for r := range g.parts {
		switch {
		case g.label.Missing(r):
			if !g.spec.DropNullLabels {
				return g.errorAt(g.spec.Label, "", fmt.Sprintf("the label of row %d is null, expected a class", r),
					"--drop_null_labels leaves such rows out")
			}
			g.dropped++
			g.parts[r] = dataset.None
		case g.weights != nil && g.weights[r] == 0:
			g.ignored++
			g.parts[r] = dataset.None
		}
	}
	return nil
}

func (g *rowGroup) assignParts(read func(*dataset.Vector) error) error {
	spec := g.spec
	if spec.SplitColumn != "" {
		var v dataset.Vector
		if err := read(&v); err != nil {
			return err
		}
		for r := range g.parts {
			part, ok := dataset.ParsePart(v.Spell(r))
			if !ok {
				return g.errorAt(spec.SplitColumn, v.Spell(r),
					fmt.Sprintf("row %d names no part, expected train, validation or test", r), "")
			}
			g.parts[r] = part
		}
		return nil
	}
	if part, ok := spec.Shares.Whole(); ok {
		for r := range g.parts {
			g.parts[r] = part
		}
		return nil
	}
	if spec.Key == "" {
		group := dataset.HashPosition(spec.Seed, baseName(g.task.File), g.task.RowGroup)
		for r := range g.parts {
			g.parts[r] = spec.Shares.Of(dataset.HashRow(group, r))
		}
		return nil
	}
	var v dataset.Vector
	if err := read(&v); err != nil {
		return err
	}
	for r := range g.parts {
		g.parts[r] = spec.Shares.Of(hashKey(spec.Seed, &v, r))
	}
	return nil
}

// baseName returns the file's name without its folders, so that a data set that
// moves is split alike.
func baseName(url string) string {
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == '/' {
			return url[i+1:]
		}
	}
	return url
}

func hashKey(seed uint64, v *dataset.Vector, r int) uint64 {
	if v.Missing(r) {
		return dataset.HashText(seed, "")
	}
	i := r
	if v.Index != nil {
		i = int(v.Index[r])
	}
	if v.Type == dataset.Text {
		return dataset.HashText(seed, v.Texts[i])
	}
	return dataset.HashNumber(seed, v.Numbers[i])
}

// FractionScale is the fixed-point scale of fractional weights.
const FractionScale = 1_000_000

// MaxWeight bounds the weight of a row.
const MaxWeight = 1e9

// MaxTotalWeight bounds the weight of all rows in fixed-point units, so that no
// sum overflows. Sums stop there.
const MaxTotalWeight = 1 << 60

func (g *rowGroup) readWeights(v *dataset.Vector) error {
	if v.Type != dataset.Number {
		return g.errorAt(g.spec.Weight, v.Spell(0), "the weights are text, expected numbers",
			"name another column with --weight")
	}
	g.weights = make([]int64, g.Rows())
	for r := range g.weights {
		if v.Missing(r) {
			return g.errorAt(g.spec.Weight, "",
				fmt.Sprintf("the weight of row %d is null or NaN, expected a number from 0 to 1e9", r), "")
		}
		i := r
		if v.Index != nil {
			i = int(v.Index[r])
		}
		x := v.Numbers[i]
		if x < 0 || x > MaxWeight {
			return g.errorAt(g.spec.Weight, v.Spell(r),
				fmt.Sprintf("the weight of row %d is out of range, expected a number from 0 to 1e9", r), "")
		}
		if x != math.Trunc(x) {
			g.whole = false
		}
		g.weights[r] = int64(math.RoundToEven(float64(x * float64(g.spec.WeightScale))))
		g.total = min(g.total+g.weights[r], MaxTotalWeight)
	}
	return nil
}

// weighClasses multiplies the weights of training rows by those of their classes.
// Rows that weigh nothing after that are left out.
func (g *rowGroup) weighClasses(classes []uint16) {
	if len(g.spec.ClassWeights) == 0 {
		return
	}
	if g.weights == nil {
		g.weights = slices.Repeat([]int64{1}, g.Rows())
	}
	unit := uint64(g.spec.WeightScale) * uint64(FractionScale/g.spec.TrainScale)
	for r, part := range g.parts {
		if part != dataset.Train {
			continue
		}
		if g.weights[r] = multiplied(g.weights[r], g.spec.ClassWeights[classes[r]], unit); g.weights[r] == 0 {
			g.parts[r] = dataset.None
		}
	}
}

// multiplied returns the product of two weights over a unit, rounded, and at most
// MaxTotalWeight.
func multiplied(weight, factor int64, unit uint64) int64 {
	hi, lo := bits.Mul64(uint64(weight), uint64(factor))
	lo, carry := bits.Add64(lo, unit/2, 0)
	if hi += carry; hi >= unit {
		return MaxTotalWeight
	}
	product, _ := bits.Div64(hi, lo, unit)
	return int64(min(product, MaxTotalWeight))
}

// weight returns the weight of row r.
func (g *rowGroup) weight(r int) int64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[r]
}

// rowsOf returns the numbers of the part's rows.
func (g *rowGroup) rowsOf(part dataset.Part, dst []int32) []int32 {
	for r, p := range g.parts {
		if p == part {
			dst = append(dst, int32(r))
		}
	}
	return dst
}

// feature decodes a feature's column in the form that its kind needs.
func (g *rowGroup) feature(i int, dst *dataset.Vector) error {
	if err := g.ReadColumn(i, dst); err != nil {
		return err
	}
	f := &g.spec.Features[i]
	if f.Type == dataset.Text && dst.Type == dataset.Number { // a column whose type says that it has no value
		dst.Type, dst.Texts = dataset.Text, nil
	}
	if dst.Type == dataset.Text && (f.Kind == dataset.Numeric || f.Unit != dataset.Plain) {
		return g.asNumbers(f, dst)
	}
	return nil
}

// asNumbers reads a text column as numbers or as points in time, which --numeric or
// a tree asks for.
func (g *rowGroup) asNumbers(f *FeatureColumn, v *dataset.Vector) error {
	numbers := make([]float64, len(v.Texts))
	for i, s := range v.Texts {
		x, ok := NumberIn(s, f.Unit)
		switch {
		case !ok && f.Unit != dataset.Plain:
			return g.errorAt(f.Name, s, fmt.Sprintf("not a %s, and the feature is one", f.Unit),
				fmt.Sprintf("write it as %s, or null", f.Unit.Example()))
		case !ok:
			return g.errorAt(f.Name, s, "not a number, and the feature is numeric",
				"write a number or null there; in training leave the column out of --numeric, or --ignore it")
		}
		numbers[i] = x
	}
	v.Type, v.Numbers = dataset.Number, numbers
	return nil
}

// NumberIn reads a text as a number or, of a unit, as a point in time in ISO 8601:
// the empty one is NaN, which is missing, and booleans are the numbers 0 and 1.
func NumberIn(text string, unit dataset.Unit) (x float64, ok bool) {
	switch {
	case text == "":
		return math.NaN(), true
	case unit != dataset.Plain:
		return unit.ParseISO(text)
	case text == "true":
		return 1, true
	case text == "false":
		return 0, true
	default:
		x, err := strconv.ParseFloat(text, 64)
		return x + 0, err == nil // turns -0 into 0
	}
}

func (g *rowGroup) errorAt(column, value, problem, hint string) error {
	group := g.task.RowGroup
	return &dataset.DataError{
		File: g.task.File, RowGroup: &group, Column: column, Value: value, Problem: problem,
		Hint: hint,
	}
}
