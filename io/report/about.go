package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
)

// about writes the text of About.
func about(w io.Writer, t *tree.Tree) {
	if text := About(t); text != "" {
		printf(w, "%s\n\n", text)
	}
}

// About describes the class weights, priors and error costs of a tree in words. Without them the
// shares, probabilities and classes of the nodes would be misread. It is empty if the tree has none
// of them.
func About(t *tree.Tree) string {
	var said []string
	if t.Training.Weights != "" {
		said = append(said, "rows weigh "+byClass(t, t.Training.ClassWeights))
	}
	if t.Label.Priors != nil {
		said = append(said, "probabilities are for classes as frequent as "+byClass(t, t.Label.Priors))
	}
	if t.Label.ErrorCosts != nil {
		said = append(said, "classes are those of least expected error cost")
	}
	return strings.Join(said, "; ")
}

// maxClasses is the greatest number of classes that are shown with their numbers.
const maxClasses = 8

// byClass writes a number for each class.
func byClass(t *tree.Tree, numbers []float64) string {
	var list []string
	for k, x := range numbers[:min(len(numbers), maxClasses, len(t.Label.Classes))] {
		list = append(list, fmt.Sprintf("%s (%s)", number(x), name(t.Label.Classes[k])))
	}
	if len(numbers) > maxClasses {
		list = append(list, "..")
	}
	return strings.Join(list, ", ")
}
