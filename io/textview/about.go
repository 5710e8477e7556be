package textview

import (
	"fmt"
	"io"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// about writes the text of About.
func about(w io.Writer, t *tree.Tree) {
	if text := About(t); text != "" {
		printf(w, "%s\n\n", text)
	}
}

// About describes the class weights, priors and the decision rule of a tree in words. Without them the
// shares, probabilities and classes of the nodes would be misread. It is empty if the tree has none
// of them.
func About(t *tree.Tree) string {
	var said []string
	f := &facts{Run: &runfolder.Run{Tree: t}, write: name}
	if t.Training.Weights != "" {
		said = append(said, "rows weigh "+string(f.byClass(t.Training.ClassWeights)))
	}
	if t.Label.Priors != nil {
		said = append(said, "probabilities are for classes as frequent as "+string(f.byClass(t.Label.Priors)))
	}
	switch {
	case t.Label.Thresholded():
		said = append(said, "predicted: "+ThresholdText(t.Label.Decision))
	case t.Label.ErrorCosts != nil:
		said = append(said, "classes are those of least expected error cost")
	}
	return strings.Join(said, "; ")
}

// ThresholdText describes a decision by a threshold.
func ThresholdText(d *tree.Decision) string { return thresholdText(d, name) }

func thresholdText(d *tree.Decision, write func(name string) string) string {
	return fmt.Sprintf("%s if its probability is at least %v, otherwise the most probable other class", write(d.Positive), d.Threshold)
}
