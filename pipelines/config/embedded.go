package config

import (
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// The settings that several verbs share.
type (
	// EngineConfig describes how jobs run on an engine.
	EngineConfig = engine.Config
	// StorageConfig describes how object stores are read.
	StorageConfig = source.Config
)

// DefaultStorageConfig reads 64 MiB ahead and waits 30 seconds.
func DefaultStorageConfig() StorageConfig { return source.DefaultConfig() }

// DefaultEngineConfig gives a job six hours.
func DefaultEngineConfig() EngineConfig { return engine.DefaultConfig() }
