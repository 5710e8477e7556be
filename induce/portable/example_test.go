package portable_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/portable"
)

// The entropy of a fair coin in bits, and of a die with six sides.
func ExampleLog2() {
	fmt.Println(portable.Log2(2), portable.Log2(6))
	// Output: 1 2.584962500721156
}

// A bound stays a bound when it is printed with four digits.
func ExampleDown() {
	fmt.Println(portable.Down(2.71828, 4), portable.Up(2.71828, 4))
	// Output: 2.718 2.719
}
