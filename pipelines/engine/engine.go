package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Runners lists the runners there are: those of this process, then engines.
func Runners() []string { return append(LocalRunners(), "flink", "spark", Dataflow) }

// LocalRunners lists the runners that run in this process.
func LocalRunners() []string { return []string{"direct", Prism} }

// Prism is the name of the SDK's own runner that serialises as engines do.
const Prism = "prism"

// IsLocal reports whether a runner's DoFns run in this process and see its
// memory.
func IsLocal(runner string) bool { return runner == "direct" || runner == Prism }

// Config says how jobs run on an engine.
type Config struct {
	JobTimeout float64 // seconds
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

// jobTimeout returns the time that a job has, which is never without a limit.
func (c *Config) jobTimeout() time.Duration {
	seconds := cmp.Or(c.JobTimeout, DefaultConfig().JobTimeout)
	return time.Duration(seconds * float64(time.Second))
}

// checkEngine makes sure that an engine can be reached, and that it starts this
// program as its own worker.
func checkEngine(ctx context.Context, runner string) error {
	if IsLocal(runner) {
		return nil
	}
	if err := Admit(ctx); err != nil {
		return err
	}
	defer Leave()
	if *jobopts.Endpoint == "" {
		return usage.Errorf("--runner %s needs --endpoint HOST:PORT, that of its job service", runner)
	}
	if *jobopts.JobName != "" || *jobopts.Async {
		return usage.Errorf("--job_name and --async have no place here: a run waits for its jobs, and names them")
	}
	if err := CheckInit(runner); err != nil {
		return err
	}
	s, err := openJobService(ctx, *jobopts.Endpoint, defaultPatience())
	if err != nil {
		return engineError(ctx, "connect", runner, err)
	}
	s.close()
	if strings.EqualFold(*jobopts.EnvironmentType, "process") && *jobopts.EnvironmentConfig == "" {
		return selfAsWorker()
	}
	return nil
}

// CheckInit makes sure that the SDK is ready for runners that start workers, be it
// in this process.
func CheckInit(runner string) error {
	if runner != "direct" && !beam.Initialized() {
		return usage.Errorf("--runner %s: beam.Init was not called: main of a program that uses this runner calls it first", runner)
	}
	return nil
}

// prismServer is the address at which prism serves this process, once it does.
var prismServer string //nolint:gochecknoglobals // one per process, as the SDK's flag in which it stands; guarded by running

// onPrism runs a pipeline on prism. The SDK writes the address of the server that
// it starts into its flags, where other runners would take it for their own: the
// flags are put back.
func onPrism(ctx context.Context, p *beam.Pipeline) error {
	endpoint, environment := *jobopts.Endpoint, *jobopts.EnvironmentType
	defer func() { *jobopts.Endpoint, *jobopts.EnvironmentType = endpoint, environment }()
	if endpoint == "" {
		*jobopts.Endpoint = prismServer
		defer func() { prismServer = *jobopts.Endpoint }()
	}
	if endpoint == "" && environment == "" {
		*jobopts.EnvironmentType = "loopback"
	}
	_, err := beam.Run(ctx, Prism, p)
	return err
}

// engineError makes a runner error, unless it was the user who ended the job.
func engineError(ctx context.Context, job, runner string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &RunnerError{Job: job, Runner: runner, Err: err}
}

// selfAsWorker tells the engine to start this program, which must lie at the
// same path on all its hosts. The SDK stages a worker's binary all the same:
// the smallest file that there is will do.
func selfAsWorker() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]string{"command": self})
	if err != nil {
		return err
	}
	*jobopts.EnvironmentConfig = string(config)
	if *jobopts.WorkerBinary == "" {
		*jobopts.WorkerBinary = os.DevNull
	}
	return nil
}

// SettleEngine prepares an engine, and makes the URLs that its workers are told mean the
// same there. It does nothing for a local runner.
func SettleEngine(ctx context.Context, runner string, input *[]string, others ...*string) error {
	if IsLocal(runner) {
		return CheckInit(runner)
	}
	urls := slices.Clone(*input)
	for _, url := range others {
		urls = append(urls, *url)
	}
	urls, err := absolute(urls...)
	if err != nil {
		return err
	}
	n := len(*input)
	*input = urls[:n:n]
	for i, url := range others {
		*url = urls[n+i]
	}
	if runner == Dataflow {
		return CheckDataflow(ctx, urls...)
	}
	return checkEngine(ctx, runner)
}

// absolute returns paths that mean the same in other processes.
func absolute(urls ...string) ([]string, error) {
	list := make([]string, len(urls))
	for i, url := range urls {
		list[i] = url
		if err := source.Process.Store.Check(url); err != nil { // before it becomes a path that there can be
			return nil, usage.Errorf("%v", err)
		}
		if strings.Contains(url, "://") || filepath.IsAbs(url) {
			continue
		}
		abs, err := filepath.Abs(url)
		if err != nil {
			return nil, err
		}
		list[i] = abs
	}
	return list, nil
}
