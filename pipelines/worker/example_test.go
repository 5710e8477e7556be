package worker_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/pipelines/worker"
)

// In a process that no engine has started, Main returns.
func ExampleMain() {
	worker.Main()
	fmt.Println("a driver, not a worker")
	// Output: a driver, not a worker
}
