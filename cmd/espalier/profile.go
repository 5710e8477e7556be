package main

import (
	"errors"
	"io/fs"
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
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return usage.Errorf("%s: %s exists: nothing is overwritten; remove it, or choose another file", profileVariable, name)
	}
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
