package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/split"
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
func (c *Train) monotone() map[string]int8 {
	if len(c.Monotone) == 0 {
		return nil
	}
	constraints := make(map[string]int8, len(c.Monotone))
	for _, one := range parseEach(c.Monotone, parseConstraint) {
		constraints[one.feature] = one.sign
	}
	return constraints
}

// conflictsOfConstraints returns the faults of --first, --forbid and --monotone that show
// without the columns of the input.
func (c *Train) conflictsOfConstraints() []error {
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
