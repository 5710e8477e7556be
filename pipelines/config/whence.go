package config

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Whence is the configuration of a search for the tree that made a file.
type Whence struct {
	File        string // predictions, a tree, a run folder, a report or an export
	Destination string // destination of retrain, with the record of the tree; empty: the one that the file names

	StorageConfig
}

// DefaultWhence looks in the folder of the run that the file names.
func DefaultWhence() Whence { return Whence{StorageConfig: DefaultStorageConfig()} }

// Settings declares the settings of a search, which set the fields of c.
func (c *Whence) Settings() []setting.Setting {
	own := setting.In(setting.Run, []setting.Setting{{
		Name: "destination", Value: setting.Text(&c.Destination),
		Help: "destination of retrain whose history has the tree (default: the folder of the run that the file names)",
	}})
	return slices.Concat(own, c.StorageConfig.Settings())
}

// Validate returns all faults at once.
func (c *Whence) Validate() error {
	if c.File == "" {
		return usage.All([]error{errors.New("the file is required: espalier whence FILE")})
	}
	return nil
}
