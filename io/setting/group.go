package setting

import "fmt"

// Group is a section of the help and of the page of settings.
type Group int

// The groups, in the order of the help.
const (
	Run       Group = iota // what is read and written
	Model                  // the tree that is used
	Rows                   // weights, labels and parts of the rows
	Tests                  // what a node may test
	Costs                  // what tests cost
	Classes                // what is known of the classes
	Growth                 // how trees are grown
	Choice                 // which tree is chosen
	Case                   // the case that is asked about
	MadeUp                 // the data set that is made up
	Resources              // time and memory
	Printed                // what is printed
	Storage                // object stores and files
	Engines                // where jobs run
)

// Groups lists the groups in the order of the help.
func Groups() []Group {
	return []Group{
		Run, Model, Rows, Tests, Costs, Classes, Growth, Choice, Case, MadeUp, Resources, Printed, Storage,
		Engines,
	}
}

// String returns the title of the group.
func (g Group) String() string {
	titles := [...]string{
		Run: "The run", Model: "The tree", Rows: "Rows", Tests: "What may be tested", Costs: "Costs", Classes: "Classes",
		Growth: "How trees are grown", Choice: "Which tree is chosen", Case: "The case", MadeUp: "What is made up",
		Resources: "Time and memory", Printed: "What is printed", Storage: "Storage", Engines: "Engines",
	}
	if g < 0 || int(g) >= len(titles) {
		return fmt.Sprintf("Group(%d)", int(g))
	}
	return titles[g]
}
