// Command generate writes the example's data set to the file it is given.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/cmd/espalier/example"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE")
		os.Exit(2)
	}
	if err := example.Write(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
