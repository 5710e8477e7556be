package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Decided is a threshold that decides in place of the decision rule of a tree.
type Decided struct {
	Threshold *float64 // least probability of the class of interest at which it is predicted; nil: the tree decides
	Positive  string   // the class of interest; empty: as in the tree
	Listed    bool     `json:"-"` // Positive may be without a threshold, as its thresholds are listed
}

// Settings declares the threshold and its class.
func (c *Decided) Settings() []setting.Setting {
	return setting.In(setting.Rows, []setting.Setting{
		{
			Name: "threshold", Value: setting.Typed(&c.Threshold, "a probability "+probability().String(), parseThreshold, spellThreshold), Changeable: true,
			Help: "predict the class of interest if its probability is at least this, in place of the tree's decision rule " +
				"(default: the tree decides)",
		},
		{
			Name: "positive", Value: setting.Text(&c.Positive), Changeable: true,
			Help: "class of --threshold, and of --thresholds in evaluate (default: the class of interest in the tree)",
		},
	})
}

// probability is the range of a threshold: a threshold of 0 would predict one class, whatever the row.
func probability() setting.Range { return setting.Above(0, 1) }

func parseThreshold(text string) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the tree decides
	}
	threshold, err := strconv.ParseFloat(text, 64)
	if err != nil || !probability().Has(threshold) {
		return nil, fmt.Errorf("want a probability %s", probability())
	}
	return &threshold, nil
}

func spellThreshold(threshold *float64) string {
	if threshold == nil {
		return ""
	}
	return strconv.FormatFloat(*threshold, 'g', -1, 64)
}

// conflicts returns the fault of a class without a threshold.
func (c *Decided) conflicts() []error {
	if c.Threshold == nil && c.Positive != "" && !c.Listed {
		return []error{errors.New("--positive names the class of --threshold: give both")}
	}
	return nil
}

// Of returns the tree with the threshold as its decision rule, or the tree itself without a threshold. It is an error
// of usage if the class of interest is unknown, or none of the tree's classes.
func (c *Decided) Of(t *tree.Tree) (*tree.Tree, error) {
	if c.Threshold == nil && c.Positive == "" {
		return t, nil
	}
	positive := c.Positive
	if positive == "" && t.Label.Decision != nil {
		positive = t.Label.Decision.Positive
	}
	if !slices.Contains(t.Label.Classes, positive) {
		if positive == "" {
			return nil, usage.Errorf("--threshold: tree.json names no class of interest: name one of its classes %q by --positive",
				t.Label.Classes)
		}
		return nil, usage.Errorf("--positive %s: want one of the tree's classes %q", setting.Word(positive), t.Label.Classes)
	}
	if c.Threshold == nil {
		return t, nil
	}
	return t.WithDecision(&tree.Decision{Positive: positive, Threshold: *c.Threshold}), nil
}
