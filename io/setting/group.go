package setting

import "fmt"

// Group is a section of the help and of the page of settings.
type Group int

// The groups, in the order of the help.
const (
	Run       Group = iota // input and output
	Model                  // the tree in use
	Rows                   // weights, labels and parts of the rows
	Tests                  // tests that a node may have
	Costs                  // prices of tests
	Classes                // class weights, priors, prices of errors
	Growth                 // growth of trees
	Choice                 // choice of the tree
	Gate                   // what a retrained tree must be like
	Case                   // the case of ask
	Resources              // time and memory
	Printed                // output on the terminal
	Storage                // object stores and files
	Engines                // runners
)

// Groups lists the groups in the order of the help.
func Groups() []Group {
	return []Group{
		Run, Model, Rows, Tests, Costs, Classes, Growth, Choice, Gate, Case, Resources, Printed, Storage,
		Engines,
	}
}

// String returns the title of the group.
func (g Group) String() string {
	titles := [...]string{
		Run: "The run", Model: "The tree", Rows: "Rows", Tests: "What may be tested", Costs: "Costs", Classes: "Classes",
		Growth: "How trees are grown", Choice: "Which tree is chosen",
		Gate: "When a new tree is used", Case: "The case",
		Resources: "Time and memory", Printed: "What is printed", Storage: "Storage", Engines: "Engines",
	}
	if g < 0 || int(g) >= len(titles) {
		return fmt.Sprintf("Group(%d)", int(g))
	}
	return titles[g]
}
