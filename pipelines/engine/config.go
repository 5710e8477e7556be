package engine

import (
	"cmp"
	"time"

	"github.com/espalier-ml/espalier/io/setting"
)

// Config describes how jobs run on an engine of other processes.
type Config struct {
	// JobTimeout is the time in seconds after which a job is cancelled, because a hanging engine
	// reports nothing. 0: six hours.
	JobTimeout float64
}

// DefaultConfig gives a job six hours.
func DefaultConfig() Config { return Config{JobTimeout: 6 * 3600} }

// Settings declares the settings of engines, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{{
		Name: "job_timeout", Group: setting.Engines, Value: setting.Duration(&c.JobTimeout, setting.Above(0, 1e9)),
		Changeable: true,
		Help:       "time after which a job on an engine is cancelled; a run of train can be resumed",
	}}
}

// RunnerSetting declares the runner of a verb: one of the given names.
func RunnerSetting(runner *string, names []string) setting.Setting {
	return setting.Setting{
		Name: "runner", Group: setting.Engines, Value: setting.OneOf(runner, names...), Changeable: true,
		Help: "Beam runner: " + setting.Alternatives(names),
	}
}

// jobTimeout returns the time limit of a job. There always is one.
func (c *Config) jobTimeout() time.Duration {
	seconds := cmp.Or(c.JobTimeout, DefaultConfig().JobTimeout)
	return time.Duration(seconds * float64(time.Second))
}
