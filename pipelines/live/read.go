package live

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// group is a row group, whose columns begin with the keys.
type group struct {
	url     string
	number  int
	keys    []string       // columns
	units   []dataset.Unit // by key
	columns []dataset.Vector
}

// eachGroup reads columns of all row groups of an input, in order: the keys, and the columns that names
// returns for a file.
func (j *join) eachGroup(
	ctx context.Context, in *source.Input, side string, names func(file int) ([]string, error), visit func(file int, g *group) error,
) error {
	for _, name := range j.config.Key {
		if err := hasColumn(in, side, "key", name); err != nil {
			return err
		}
	}
	return j.Phase(ctx, side, int64(len(in.Tasks)), "row groups", func(s *parallel.Steps) error {
		for i, file := range in.Files {
			more, err := names(i)
			if err != nil {
				return err
			}
			g := &group{url: file.URL, keys: j.config.Key, columns: make([]dataset.Vector, len(j.config.Key)+len(more))}
			for _, name := range g.keys {
				g.units = append(g.units, in.ByName[i][name].Unit)
			}
			task := in.TaskOf(i)
			for task.RowGroup = range file.RowGroups() {
				rows, err := j.Files.RowGroup(ctx, task, append(g.keys[:len(g.keys):len(g.keys)], more...))
				if err != nil {
					return err
				}
				for k := range g.columns {
					err = errors.Join(err, rows.ReadColumn(k, &g.columns[k]))
				}
				if err = errors.Join(err, rows.Close()); err != nil {
					return err
				}
				g.number = task.RowGroup
				if err := visit(i, g); err != nil {
					return err
				}
				s.Done.Add(1)
			}
		}
		return nil
	})
}

// key spells the key of a row. Equal values have the same spelling, whether a file has them as integers
// or as texts.
func (g *group) key(r int) (string, error) {
	var parts []string
	for i := range g.keys {
		v := &g.columns[i]
		switch {
		case v.Missing(r):
			return "", g.fault(g.keys[i], "", fmt.Sprintf("row %d has no key", r), "leave out rows without a key, or name another key")
		case v.Type == dataset.Number:
			parts = append(parts, g.units[i].Spell(number(v, r)))
		default:
			parts = append(parts, v.Spell(r))
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	for i := range parts {
		parts[i] = strconv.Quote(parts[i])
	}
	return strings.Join(parts, ", "), nil
}

// twice returns the error for a key that also another row has.
func (g *group) twice(key, what, other string) error {
	where := "here and in " + other
	hint := "name by --key all columns that tell the rows apart, or leave out one of the files"
	if other == g.url {
		where = "in two rows"
		hint = "name by --key all columns that tell the rows apart, or leave out one of the rows"
	}
	return g.fault(strings.Join(g.keys, ", "), key, fmt.Sprintf("the key has %s %s, expected one", what, where), hint)
}

func (g *group) fault(column, value, problem, hint string) error {
	return &dataset.DataError{File: g.url, RowGroup: &g.number, Column: column, Value: value, Problem: problem, Hint: hint}
}

// number returns the number of a row, which must not be missing.
func number(v *dataset.Vector, r int) float64 {
	if v.Index != nil {
		r = int(v.Index[r])
	}
	return v.Numbers[r]
}

// readPredictions fills the tables of the trees.
func (j *join) readPredictions(ctx context.Context) error {
	var trees []columns
	names := func(file int) (list []string, err error) {
		trees, err = j.find(ctx, j.predictions.Files[file])
		for i := range trees {
			list = append(list, trees[i].names...)
		}
		return list, err
	}
	return j.eachGroup(ctx, j.predictions, "predictions", names, func(file int, g *group) error {
		for r := range g.columns[0].Rows() {
			key, err := g.key(r)
			if err != nil {
				return err
			}
			rest := g.columns[len(g.keys):]
			for i := range trees {
				t := &trees[i]
				if other, ok := t.rows[key]; ok {
					return g.twice(key, "a prediction of the same tree", j.predictions.Files[other.file].URL)
				}
				leaf := t.leaf(rest[:len(t.names)], r)
				if leaf == nil {
					return g.fault(t.names[0], "", fmt.Sprintf("row %d has no complete prediction of the tree", r),
						"score the rows again")
				}
				t.rows[key] = prediction{day: t.day, leaf: leaf, file: int32(file)}
				t.day.Predictions++
				if t.shadow {
					t.day.Shadow++
				}
				rest = rest[len(t.names):]
			}
		}
		return nil
	})
}

// leaf returns the entry of a row's prediction, given the columns of the tree; nil if a value is missing.
func (c *columns) leaf(v []dataset.Vector, r int) *metric.Leaf {
	for i := range v {
		if v[i].Missing(r) {
			return nil
		}
	}
	code, ok := c.codes.Code(v[0].Spell(r))
	if !ok {
		return nil
	}
	class := int(code)
	key := binary.LittleEndian.AppendUint16(nil, code)
	for i := range v[1:] {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(number(&v[1+i], r)))
	}
	return c.day.entry(key, func() *metric.Leaf {
		l := &metric.Leaf{Class: class, Tests: int(number(&v[1], r)), Cost: number(&v[2], r), Weights: make([]int64, len(c.classes))}
		for i := range c.classes {
			l.Probabilities = append(l.Probabilities, number(&v[3+i], r))
		}
		return l
	})
}

// readLabels counts the labels of the predictions.
func (j *join) readLabels(ctx context.Context) error {
	unit := new(dataset.WeightUnit)
	if j.spec.Units != nil {
		unit = &j.spec.Units[dataset.Test]
	}
	names := []string{j.spec.Label}
	if j.spec.Weight != "" {
		names = append(names, j.spec.Weight)
	}
	return j.eachGroup(ctx, j.labels, "labels", func(int) ([]string, error) { return names, nil }, func(file int, g *group) error {
		given := g.columns[len(g.keys):]
		for r := range given[0].Rows() {
			weight := int64(1)
			if len(given) > 1 && !given[0].Missing(r) {
				weight = unit.Of(number(&given[1], r))
			}
			if given[0].Missing(r) || weight == 0 {
				continue
			}
			key, err := g.key(r)
			if err != nil {
				return err
			}
			found := false
			for _, t := range j.trees {
				p, ok := t.rows[key]
				if !ok {
					continue
				}
				found = true
				if p.labelled > 0 {
					return g.twice(key, "a label", j.labels.Files[p.labelled-1].URL)
				}
				p.labelled = int32(file + 1)
				t.rows[key] = p
				p.count(t.codes, given[0].Spell(r), weight, unit)
			}
			if found {
				j.joined++
				continue
			}
			j.alone++
			j.stranger = cmp.Or(j.stranger, key)
		}
		return nil
	})
}

// count counts the label of a prediction, given the weight of the row in a unit.
func (p *prediction) count(codes *dataset.ClassCodes, label string, weight int64, unit *dataset.WeightUnit) {
	p.day.Labelled++
	code, ok := codes.Read(label)
	if !ok {
		p.day.OtherClass++
		return
	}
	class := int(code)
	p.leaf.Weights[class] += weight
	p.leaf.Rows++
	if unit.Effect > 1 {
		if p.day.heavy == nil {
			p.day.heavy = make(map[heavyRows]rowsSum)
		}
		at := heavyRows{p.leaf, class, dataset.WeightClass(weight, unit.Scale)}
		sum := p.day.heavy[at]
		p.day.heavy[at] = rowsSum{sum.weight + weight, sum.rows + 1}
	}
}
