// Command generate writes the data sets of the examples: tic-tac-toe TO, or mushroom FROM TO.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/cmd/espalier/example"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "tic-tac-toe":
		return example.Write(context.Background(), args[1])
	case len(args) == 3 && args[0] == "mushroom":
		return example.Mushrooms(context.Background(), args[1], args[2])
	default:
		return errors.New("usage: generate tic-tac-toe TO, or generate mushroom FROM TO")
	}
}
