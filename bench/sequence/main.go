// Command sequence prints the pruning sequence of a tree.json as JSON, for
// bench/pruning.py.
//
//	go run ./bench/sequence leaves|cost|max_cost TREE
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sequence leaves|cost|max_cost TREE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name, file string) error {
	currency, err := prune.ParseCurrency(name)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	t, err := tree.Decode(b)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	algorithm, err := split.ParseAlgorithm(t.Algorithm.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	s := prune.NewSequence(t, currency, algorithm.Impurity())
	type step struct {
		Alpha  float64 `json:"alpha"`
		Risk   float64 `json:"risk"`
		Leaves int     `json:"leaves"`
	}
	list := make([]step, len(s.Steps))
	for k, x := range s.Steps {
		list[k] = step{x.Alpha, x.Risk, x.Leaves}
	}
	return json.NewEncoder(os.Stdout).Encode(list)
}
