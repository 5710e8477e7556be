package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Folds are the main figures of a cross-validation.
type Folds struct {
	Count           int
	Area, Deviation *float64        // mean and standard deviation of the area under the ROC curve
	Optimism        *float64        // by how much Area is too high, as the folds also chose the tree; nil: not known
	Stability       *tree.Stability // agreement of the chosen tree with the trees of the folds
	Modelled        bool            // the chosen tree has leaf models; those of the folds have none
}

// leastOptimism is the optimism, in area, below which nothing is said of it.
const leastOptimism = 0.0001

// Expected returns the area without its optimism; nil if there is no area.
func (f *Folds) Expected() *float64 {
	if f.Area == nil || f.Optimism == nil {
		return f.Area
	}
	area := *f.Area - *f.Optimism
	return &area
}

// Text writes the figures in one line, or in several of at most width characters; 0: of any
// length.
func (f *Folds) Text(w io.Writer, width int) error {
	var b strings.Builder
	plain := ""
	if f.Modelled {
		plain = " without leaf models"
	}
	printf(&b, "%d folds%s: AUC %s", f.Count, plain, Figure(f.Expected()))
	if f.Deviation != nil {
		printf(&b, " +- %.4f", *f.Deviation)
	}
	if f.Optimism != nil && *f.Optimism >= leastOptimism {
		printf(&b, " (measured: %s; the folds also chose the tree)", Figure(f.Area))
	}
	if s := f.Stability; len(s.Splits) > 0 {
		root := math.Round(s.Splits[0].SameTest * float64(f.Count))
		printf(&b, "; the root has the same test in %.0f of %d trees", root, f.Count)
		if s.SameFeature != nil {
			printf(&b, ", a split has the same feature in %.0f %% of them and the same test in %.0f %% (means by "+
				"weight)", 100**s.SameFeature, 100**s.SameTest)
		}
	}
	_, err := fmt.Fprintln(w, Wrapped(b.String(), width, ""))
	return err
}
