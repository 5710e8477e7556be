package pipelines

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/usage"
)

// parseMonotone reads constraints such as age=+1 and income=-1.
func parseMonotone(list []string) (map[string]int8, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // no constraints
	}
	constraints := make(map[string]int8, len(list))
	for _, text := range list {
		at := strings.LastIndexByte(text, '=')
		sign, err := strconv.ParseInt(text[at+1:], 10, 8)
		if at < 0 || err != nil || sign != 1 && sign != -1 {
			return nil, fmt.Errorf("--monotone %q: want FEATURE=+1 or FEATURE=-1", text)
		}
		name := text[:at]
		if _, twice := constraints[name]; twice {
			return nil, fmt.Errorf("--monotone: the feature %q is named twice", name)
		}
		constraints[name] = int8(sign)
	}
	return constraints, nil
}

// checkWishes returns the faults that the wishes have whatever the columns are.
func (c *TrainConfig) checkWishes(p *parsed) error {
	var faults []error
	for i, name := range c.First {
		if slices.Contains(c.First[:i], name) {
			faults = append(faults, fmt.Errorf("--first: the feature %q is named twice", name))
		}
	}
	for _, name := range c.Forbid {
		if slices.Contains(c.First, name) {
			faults = append(faults, fmt.Errorf("column %q is named in both --first and --forbid", name))
		}
		if p.monotone[name] != 0 {
			faults = append(faults, fmt.Errorf("column %q is named in both --monotone and --forbid", name))
		}
	}
	if oneHot := func(m member) bool { return m.params.Family == split.OneHot }; len(p.monotone) > 0 && slices.ContainsFunc(p.grid, oneHot) {
		faults = append(faults, errors.New("--monotone needs threshold tests, which --tests onehot lacks: choose threshold or both"))
	}
	return errors.Join(faults...)
}

// checkWishes makes sure that the wishes are about features, and constraints
// about numeric ones.
func (s *schema) checkWishes(c *TrainConfig, p *parsed) error {
	var faults []error
	for i := range s.columns {
		column := &s.columns[i]
		for _, wish := range []struct {
			flag  string
			named bool
		}{
			{"first", slices.Contains(c.First, column.Name)},
			{"forbid", slices.Contains(c.Forbid, column.Name)},
			{"monotone", p.monotone[column.Name] != 0},
		} {
			if wish.named && column.role != RoleFeature && column.role != RoleForbidden {
				faults = append(faults, fmt.Errorf("--%s: column %q is no feature, its role is %s", wish.flag, column.Name, column.role))
			}
		}
		if p.monotone[column.Name] != 0 && column.kind == dataset.Categorical {
			faults = append(faults, fmt.Errorf("--monotone: column %q is categorical, want a numeric one", column.Name))
		}
	}
	if len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}

// checkMonotoneLabel makes sure that constraints mean something: a probability
// that does not fall is that of the second of two classes. A sample of the rows,
// of a rehearsal, may lack a class.
func (t *training) checkMonotoneLabel() error {
	if len(t.parsed.monotone) == 0 || len(t.classes) == 2 || t.rehearsed != nil {
		return nil
	}
	return usage.Errorf("--monotone: the label %q has %d classes, want two", t.config.Label, len(t.classes))
}
