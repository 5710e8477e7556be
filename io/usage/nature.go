package usage

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Nature is what an error means for whoever has started a command. It follows from where the error arises, such as in
// a store; the places through which the error passes add words only.
type Nature int

// The natures of errors.
const (
	Internal Nature = iota // a fault of the program
	Usage                  // settings, missing files, an output that cannot be written: for a person
	Data                   // the rows or files broke the contract
	Refused                // a check has refused the result
	TryAgain               // the cause goes away without a person
)

// Natured is an error of a known nature.
type Natured interface {
	error
	// Nature returns the nature of the error.
	Nature() Nature
}

// NatureOf returns the nature of the innermost error, in the tree of an error, that has a nature. A fault of the local file
// system without another nature is an error of usage.
func NatureOf(err error) Nature {
	if n, ok := innermost(err); ok {
		return n
	}
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) || errors.As(err, new(syscall.Errno)) {
		return Usage
	}
	return Internal
}

func innermost(err error) (Nature, bool) {
	for _, cause := range causes(err) {
		if n, ok := innermost(cause); ok {
			return n, true
		}
	}
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case Natured:
		return e.Nature(), true
	case *dataset.DataError:
		return Data, true
	case syscall.Errno:
		return TryAgain, passing[e]
	default:
		return Internal, false
	}
}

func causes(err error) []error {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	}
	return nil
}

// passing lists faults of file systems, such as network file systems, that go away without a person.
//
//nolint:gochecknoglobals // a constant
var passing = map[syscall.Errno]bool{
	syscall.EAGAIN: true, syscall.EINTR: true, syscall.ETIMEDOUT: true, syscall.EMFILE: true, syscall.ENFILE: true,
	syscall.ESTALE: true, syscall.EBUSY: true,
	syscall.ECONNRESET: true, syscall.ECONNREFUSED: true, syscall.EHOSTUNREACH: true, syscall.ENETUNREACH: true,
}
