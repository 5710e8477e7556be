package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Folds are the figures of a cross-validation that matter most.
type Folds struct {
	Count           int
	Area, Deviation *float64        // mean area under the ROC curve, and standard deviation of it
	Stability       *tree.Stability // of the chosen tree among those of the folds
}

// Text writes them as a line, or more of at most width characters; 0: of any length.
func (f *Folds) Text(w io.Writer, width int) error {
	var b strings.Builder
	printf(&b, "%d folds: AUC %s", f.Count, Figure(f.Area))
	if f.Deviation != nil {
		printf(&b, " +- %.4f", *f.Deviation)
	}
	if s := f.Stability; len(s.Splits) > 0 {
		root := math.Round(s.Splits[0].SameTest * float64(f.Count))
		printf(&b, "; the root's test is that of %.0f of %d trees", root, f.Count)
		if s.SameFeature != nil {
			printf(&b, ", %.0f %% of the splits by weight are on the feature that they ask there, %.0f %% their "+
				"very test", 100**s.SameFeature, 100**s.SameTest)
		}
	}
	_, err := fmt.Fprintln(w, Wrapped(b.String(), width, ""))
	return err
}
