package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// warnOfRelabelling warns of classes most of whose rows count as another class, because that class is the
// most frequent one among equal rows. t is grown from the training objects.
func (s *stage) warnOfRelabelling(train *jobs.ObjectStats, t *tree.Tree) {
	if s.config.Classes != split.OfObjects {
		return // rows count with their own classes
	}
	root := &t.Nodes[0]
	for k, weight := range train.Relabelled {
		if root.RawClassWeights[k] == 0 || train.Weight == 0 {
			continue
		}
		// The units of both weights may differ.
		all := float64(root.RawClassWeights[k]) / float64(root.Weight) * float64(train.Weight)
		if share := float64(weight) / all; share > 0.5 {
			s.driver.Reporter.Warn(fmt.Sprintf("%s of the training rows of the class %q count as another class: "+
				"equal rows are one object, of their most frequent class; --classes rows counts each row", textview.Percent(min(share, 1)), t.Label.Classes[k]))
		}
	}
}

// warnOfTree warns of a chosen tree that is not worth its tests, of a single leaf, of a feature that decides alone, and of monotone
// features whose sign excludes all thresholds.
func (c *choosing) warnOfTree(ctx context.Context, candidates []frontier.Candidate, w *winner) error {
	c.warnOfParts(&candidates[0])
	t := w.Candidate.Tree
	if text := textview.OneDecides(t); text != "" {
		c.driver.Reporter.Warn(text)
	}
	if len(t.Label.Classes) < 2 || len(c.Features) == 0 || t.Training.CutLeaves > 0 {
		return nil // another warning gives the reason
	}
	c.warnOfFirst(&t.Algorithm)
	var found *verdict
	bare := len(t.Nodes) == 1
	if !bare && !t.Modelled() {
		found = c.verdict(w)
	}
	poor := found != nil && !found.better()
	reversed, err := c.warnOfSigns(ctx, t, bare || poor)
	switch {
	case err != nil || t.Modelled():
		return err
	case poor:
		always := "most frequent class"
		if found.costs {
			always = "class that is cheapest without tests"
		}
		c.driver.Reporter.Warn(fmt.Sprintf("on %s the tree is no better than always saying the %s, %q: %s", found.Rows, always,
			t.Label.Classes[found.Class], found))
	case bare:
		if reason := c.whyLeaf(candidates, w, reversed); reason != "" {
			c.driver.Reporter.Warn(reason)
		}
	}
	return nil
}

// warnOfParts warns of parts that --split has a share for, and that got no rows because rows of one time or group stay together.
func (c *choosing) warnOfParts(candidate *frontier.Candidate) {
	flag, column, more := "group", c.config.Group, "groups"
	if c.config.SplitTime != "" {
		flag, column, more = "split_time", c.config.SplitTime, "times"
	}
	if column == "" || c.config.SplitColumn != "" {
		return
	}
	var empty []string
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		if counts := candidate.Counts[part]; c.config.Split[part] > 0 && (counts == nil || counts.TotalRows() == 0) {
			empty = append(empty, part.String())
		}
	}
	if len(empty) > 0 {
		c.driver.Reporter.Warn(fmt.Sprintf("--%s %s leaves no %s rows, because rows with equal values stay together and there are few different values: "+
			"name a column with more %s, or change --split %s", flag, column, strings.Join(empty, " and no "), more,
			c.config.Split))
	}
}

// warnOfFirst warns of features that --first names and that a limit of the cost or the paid tests of a path keeps from being
// tested.
func (c *choosing) warnOfFirst(limits *tree.Algorithm) {
	paid := 0 // by --first so far
	further := dataset.AmountsOf(limits.MaxFurther, dataset.FurtherUnits(c.Features))
	for _, name := range c.config.First {
		i := slices.IndexFunc(c.Features, func(f dataset.Feature) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		due := c.Columns[i].LeastDue(split.Paid{})
		if due > 0 {
			paid++
		}
		switch {
		case limits.MaxCost > 0 && due > limits.MaxCost:
			c.driver.Reporter.Warn(fmt.Sprintf("--first: no node tests %s, as a test costs at least %v, and --max_cost is %v", name, due,
				limits.MaxCost))
		case !new(induce.Bill).Keeps(further, c.Columns[i].FurtherDue(split.Paid{})):
			c.driver.Reporter.Warn(fmt.Sprintf("--first: no node tests %s, as a test costs more in a further currency than --max_cost", name))
		case limits.MaxTests > 0 && due > 0 && paid > limits.MaxTests:
			c.driver.Reporter.Warn(fmt.Sprintf("--first: no node tests %s, as rows pay for %d tests before it, and --max_tests is %d", name,
				paid-1, limits.MaxTests))
		}
	}
}

// verdict judges the chosen tree on folds or, without folds, on validation rows; nil without both.
func (c *choosing) verdict(w *winner) *verdict {
	if found := w.Competition; found != nil && len(found.Folds) > 0 {
		if v := verdictOnFolds(w.Candidate.Tree, crossvalidate.Counterparts(found.Folds, found.Pool, &found.Choice.Chosen)); v != nil {
			return v
		}
	}
	return verdictOnRows(w.Candidate.Tree, w.Candidate.Counts[dataset.Validation], dataset.Validation.String())
}

// warnOfConstants warns of constant features that --first or --monotone names.
func (w *fitter) warnOfConstants(names []string) {
	for _, name := range names {
		for _, flag := range []struct {
			name  string
			names bool
		}{{"first", slices.Contains(w.config.First, name)}, {"monotone", w.config.Monotone[name] != 0}} {
			if flag.names {
				w.driver.Reporter.Warn(fmt.Sprintf("--%s: column %q has one value among the training rows: no node can test it",
					flag.name, name))
			}
		}
	}
}
