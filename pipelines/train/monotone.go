package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// warnOfSigns warns of monotone features whose sign excludes the best threshold at the root, if the
// tree does not test the feature, or is poor. It returns the names of the features whose sign
// excludes all thresholds.
func (c *choosing) warnOfSigns(ctx context.Context, t *tree.Tree, poor bool) (reversed []string, err error) {
	var objects *dataset.Objects
	for f := range c.Columns {
		demand := c.Columns[f].Monotone
		tests := func(n tree.Node) bool { return !n.Leaf() && n.Test.Feature == f }
		if demand == 0 || !c.Columns[f].Numeric || !poor && slices.ContainsFunc(t.Nodes, tests) {
			continue
		}
		if objects == nil {
			if objects, err = c.Sample(ctx, dataset.Train); err != nil {
				return nil, err
			}
		}
		found := c.thresholdsAgainst(objects, f, demand)
		name := c.Features[f].Name
		which := "the best"
		if found.all == 0 || found.against == 0 {
			continue
		}
		if found.against == found.all {
			reversed = append(reversed, name)
			which = "every"
		}
		const certain = 16 // chi squared: four standard errors, as the best of many thresholds is looked at
		if found.chiSquared < certain && (len(t.Nodes) > 1 || found.against < found.all) {
			continue
		}
		direction := map[int8]string{1: "falls", -1: "rises"}[demand]
		c.driver.Reporter.Warn(fmt.Sprintf("--monotone %s=%+d excludes %s threshold on %s at the root: "+
			"the share of the class %q %s as %s grows; %s=%+d would allow it",
			name, demand, which, name, t.Label.Classes[1], direction, name, name, -demand))
	}
	return reversed, nil
}

// againstSign counts the thresholds on a feature that its sign excludes.
type againstSign struct {
	all, against int
	chiSquared   float64 // chi squared of the best threshold, by rows and classes; 0 if the sign allows this threshold
}

// thresholdsAgainst counts the thresholds on a feature that separate objects.
func (c *choosing) thresholdsAgainst(o *dataset.Objects, feature int, demand int8) (found againstSign) {
	codes := c.Columns[feature].Codes
	raw := o.Soft() || c.config.Classes != split.OfObjects
	second := make([]float64, codes)
	all := make([]float64, codes)
	var totalSecond, total, rows float64
	for i := range o.Len() {
		weights := []dataset.ClassWeight{{Class: o.Class[i], Weight: o.Weight[i]}}
		if raw {
			weights = o.Raw(i)
		}
		code := o.Codes[feature].At(i)
		rows += float64(o.RowsOf(i))
		for _, cw := range weights {
			w := float64(cw.Weight)
			all[code] += w
			total += w
			if cw.Class == 1 {
				second[code] += w
				totalSecond += w
			}
		}
	}
	share := totalSecond / total
	most := 0.0
	missing := codes - 1
	no := all[missing]
	noSecond := second[missing]
	for code := range missing {
		if yes := total - no; no > 0 && yes > 0 && (code == 0 || all[code-1] > 0) {
			found.all++
			rise := float64(demand) * ((totalSecond-noSecond)/yes - noSecond/no)
			if rise < 0 {
				found.against++
			}
			if gain := float64(rise*rise) * (no / total) * (yes / total); gain > most {
				if most, found.chiSquared = gain, 0; rise < 0 {
					found.chiSquared = rows * gain / (share * (1 - share))
				}
			}
		}
		no += all[code]
		noSecond += second[code]
	}
	return found
}
