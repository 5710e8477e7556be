package transforms

import (
	"errors"
	"runtime"
)

// Try returns what build returns. If build panics with an error, as the transforms of this package and of Beam do if a
// pipeline cannot be built, Try returns the error:
//
//	trained, err := transforms.Try(func() transforms.Trained { return transforms.Train(s, rows, config) })
//
// After an error the pipeline is not whole: do not run it. Other panics, such as an index out of range, are passed on.
func Try[T any](build func() T) (result T, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			if errors.As(p, new(runtime.Error)) {
				panic(p)
			}
			err = p
		default:
			panic(p)
		}
	}()
	return build(), nil
}
