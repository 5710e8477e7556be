package main

import (
	"errors"
	"os"
	"runtime/pprof"

	"github.com/espalier-ml/espalier/io/usage"
)

// profileVariable is the environment variable with the file to write a profile to, for go tool pprof.
const profileVariable = "ESPALIER_PROFILE"

// profiled does work. If profileVariable is set, it writes a profile of the processor time of work. Samples are labelled
// by the phase of the run: see engine.Driver.
func profiled(work func() error) error {
	name := os.Getenv(profileVariable)
	if name == "" {
		return work()
	}
	f, err := os.Create(name)
	if err != nil {
		return usage.Errorf("%s: %v", profileVariable, err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = work()
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}
