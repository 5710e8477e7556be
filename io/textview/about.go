package textview

import (
	"fmt"
	"io"
	"math"
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

// Interested returns a tree for screens, with a class of interest: the class that the tree names or, of two classes, the
// rarer one by the priors or, without priors, among the training rows, and then a sentence that says so. The sentence is
// empty unless the class is guessed, and a tree of more classes that names none stays as it is.
func Interested(t *tree.Tree) (shown *tree.Tree, guess string) {
	l := &t.Label
	if l.Decision != nil || len(l.Classes) != 2 {
		return t, ""
	}
	weights := [2]float64{float64(t.Nodes[0].RawClassWeights[0]), float64(t.Nodes[0].RawClassWeights[1])}
	for k, factor := range t.Training.ClassWeights {
		weights[k] /= max(factor, math.SmallestNonzeroFloat64) // a class of weight 0 has no rows
	}
	if l.Priors != nil {
		weights = [2]float64(l.Priors)
	}
	rarer := 1
	if weights[0] < weights[1] {
		rarer = 0
	}
	named := *t
	named.Label.Decision = &tree.Decision{Positive: l.Classes[rarer]}
	return &named, fmt.Sprintf("class of interest: %s, the rarer (--positive)", name(l.Classes[rarer]))
}
