package engine

import (
	"cmp"
	"encoding/json"
	"flag" //nolint:depguard // the SDK takes the settings of engines from its flags only
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Config describes how jobs run on an engine of other processes. A field that is empty leaves the flag of the
// SDK of the same name as it is, so that a program can also take it from its command line.
type Config struct {
	// JobTimeout is the time in seconds after which a job is cancelled, because a hanging engine
	// reports nothing. 0: six hours.
	JobTimeout float64
	// Endpoint is HOST:PORT of the job service of Flink, Spark or prism.
	Endpoint string
	// EnvironmentType says where the workers run: PROCESS, LOOPBACK or DOCKER.
	EnvironmentType string
	// EnvironmentConfig is the image of DOCKER, or the command of PROCESS as JSON. Empty: PROCESS starts this
	// program, which calls worker.Main.
	EnvironmentConfig string
	// Parallelism is the number of workers on Flink and Spark. From -1 to 0: the engine's own default.
	Parallelism int
	// EngineOptions are further flags of the SDK, each as NAME=VALUE.
	EngineOptions []string
}

// DefaultConfig gives a job six hours.
func DefaultConfig() Config { return Config{JobTimeout: 6 * 3600, Parallelism: -1} }

// Settings declares the settings of engines, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	list := setting.In(setting.Engines, []setting.Setting{
		{
			Name: "job_timeout", Value: setting.Duration(&c.JobTimeout, setting.Above(0, 1e9)),
			Help: "time after which a job on an engine is cancelled; a run of train can be resumed",
		},
		{
			Name: "endpoint", Value: setting.Text(&c.Endpoint), Conceal: concealUser,
			Help: "HOST:PORT of the engine's job service",
		},
		{
			Name: "environment_type", Value: setting.Text(&c.EnvironmentType),
			Help: "where the engine's workers run: PROCESS (this binary, at the same path on its hosts), LOOPBACK (this " +
				"process) or DOCKER",
		},
		{
			Name: "environment_config", Value: setting.Text(&c.EnvironmentConfig), Conceal: concealEnvironment,
			Help: `image of DOCKER; another program than this binary for PROCESS, as {"command":"PATH","env":{"NAME":"VALUE"}}`,
		},
		{
			Name: "parallelism", Value: setting.Whole(&c.Parallelism, setting.From(-1)),
			Help: "number of the engine's workers; -1: its own default",
		},
		{
			Name: "engine_options", Value: setting.List(&c.EngineOptions), Conceal: concealOptions,
			Help: "further flags of the Beam SDK, as NAME=VALUE,..; on the command line they are also flags",
		},
	})
	for i := range list {
		list[i].Changeable = true
	}
	return list
}

// concealUser conceals a name and a password before the host of a service.
func concealUser(value any) any {
	text, _ := value.(string)
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return setting.Concealed + text[at:]
	}
	return text
}

// concealEnvironment conceals the values of the variables of a command of PROCESS. The image of DOCKER stays.
func concealEnvironment(value any) any {
	text, _ := value.(string)
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	var command map[string]any
	if json.Unmarshal([]byte(text), &command) != nil {
		return setting.Concealed
	}
	for key, content := range command {
		variables, ok := content.(map[string]any)
		switch {
		case ok:
			for name := range variables {
				variables[name] = setting.Concealed
			}
		case key != "command":
			command[key] = setting.Concealed
		}
	}
	b, err := json.Marshal(command)
	if err != nil {
		return setting.Concealed
	}
	return string(b)
}

// concealOptions conceals the values of flags of the SDK: some of them are credentials.
func concealOptions(value any) any {
	options, _ := value.([]string)
	shown := make([]string, len(options))
	for i, option := range options {
		shown[i] = concealed(option)
	}
	return shown
}

// concealed returns NAME=VALUE without the value.
func concealed(option string) string {
	name, _, valued := strings.Cut(option, "=")
	if !valued {
		return name
	}
	return name + "=" + setting.Concealed
}

// optionFlag returns the flag of the SDK that an item of EngineOptions names.
func optionFlag(option string) (*flag.Flag, error) {
	name, _, ok := strings.Cut(option, "=")
	f := flag.Lookup(name)
	if !ok || f == nil {
		return nil, usage.Errorf("want NAME=VALUE with the name of a flag of the Beam SDK")
	}
	return f, nil
}

// apply sets the SDK's flags, and returns a function that puts the former values back.
func (c *Config) apply() (restore func(), err error) {
	options := slices.Clone(c.EngineOptions)
	for name, value := range map[string]string{
		"endpoint": c.Endpoint, "environment_type": c.EnvironmentType, "environment_config": c.EnvironmentConfig,
	} {
		if value != "" {
			options = append(options, name+"="+value)
		}
	}
	if c.Parallelism > 0 {
		options = append(options, "parallelism="+strconv.Itoa(c.Parallelism))
	}
	var undo []func()
	restore = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	for _, option := range options {
		f, err := optionFlag(option)
		if err == nil {
			value := reflect.ValueOf(f.Value).Elem() // some flags add to their value when they are set
			before := reflect.New(value.Type()).Elem()
			before.Set(value)
			undo = append(undo, func() { value.Set(before) })
			_, text, _ := strings.Cut(option, "=")
			err = f.Value.Set(text)
		}
		if err != nil {
			restore()
			return nil, usage.Errorf("--engine_options %s: %v", concealed(option), concealedIn(err, option))
		}
	}
	return restore, nil
}

// concealedIn returns the text of an error about an option without the option's value.
func concealedIn(err error, option string) string {
	_, value, _ := strings.Cut(option, "=")
	if value == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), value, setting.Concealed)
}

// RunnerSetting declares the runner of a verb.
func RunnerSetting(runner *string) setting.Setting {
	return setting.Setting{
		Name: "runner", Group: setting.Engines, Value: setting.OneOf(runner, Runners()...), Changeable: true,
		Help: "Beam runner: " + setting.Alternatives(Runners()),
	}
}

// jobTimeout returns the time limit of a job. There always is one.
func (c *Config) jobTimeout() time.Duration {
	seconds := cmp.Or(c.JobTimeout, DefaultConfig().JobTimeout)
	return time.Duration(seconds * float64(time.Second))
}
