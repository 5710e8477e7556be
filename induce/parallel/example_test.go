package parallel_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// Four goroutines square numbers.
func ExampleEach() {
	squares := make([]int, 6)
	parallel.Each(len(squares), 4, func(i int) { squares[i] = i * i })
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25]
}

// A panic on another goroutine becomes an error of the caller.
func ExampleGuard() {
	err := parallel.Guard(func() error {
		parallel.Run(2, func() { panic("no such bin") })
		return nil
	})
	var p *parallel.PanicError
	fmt.Println(errors.As(err, &p), p.Value, strings.Contains(err.Error(), "example_test.go"))
	// Output: true no such bin true
}
