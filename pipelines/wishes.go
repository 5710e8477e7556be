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

// constraint says how the probability of the second class may change with a feature: 1:
// it must not fall; -1: it must not rise.
type constraint struct {
	feature string
	sign    int8
}

// parseConstraint reads a constraint such as age=+1 or income=-1.
func parseConstraint(text string) (constraint, error) {
	at := strings.LastIndexByte(text, '=')
	sign, err := strconv.ParseInt(text[at+1:], 10, 8)
	if at < 0 || err != nil || sign != 1 && sign != -1 {
		return constraint{}, errors.New("want FEATURE=+1 or FEATURE=-1")
	}
	return constraint{text[:at], int8(sign)}, nil
}

// monotone returns the constraints by feature; nil: there are none.
func (c *TrainConfig) monotone() map[string]int8 {
	if len(c.Monotone) == 0 {
		return nil
	}
	constraints := make(map[string]int8, len(c.Monotone))
	for _, one := range parseEach(c.Monotone, parseConstraint) {
		constraints[one.feature] = one.sign
	}
	return constraints
}

// conflictsOfWishes returns the faults that the wishes have whatever the columns are.
func (c *TrainConfig) conflictsOfWishes() []error {
	var faults []error
	constrained := make([]string, len(c.Monotone))
	for i, one := range parseEach(c.Monotone, parseConstraint) {
		constrained[i] = one.feature
	}
	for _, list := range []struct {
		flag  string
		names []string
	}{{"first", c.First}, {"monotone", constrained}} {
		for i, name := range list.names {
			if name != "" && slices.Contains(list.names[:i], name) {
				faults = append(faults, fmt.Errorf("--%s: the feature %q is named twice", list.flag, name))
			}
		}
	}
	for _, name := range c.Forbid {
		if slices.Contains(c.First, name) {
			faults = append(faults, fmt.Errorf("column %q is named in both --first and --forbid", name))
		}
		if slices.Contains(constrained, name) {
			faults = append(faults, fmt.Errorf("column %q is named in both --monotone and --forbid", name))
		}
	}
	if len(c.Monotone) > 0 && slices.Contains(c.Tests, split.OneHot.String()) {
		faults = append(faults, errors.New("--monotone needs threshold tests, which --tests onehot lacks: "+
			"choose threshold or both"))
	}
	return faults
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
