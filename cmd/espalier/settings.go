package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/espalier-ml/espalier/pipelines"
)

// settings are the values of a verb's flags by name: those of the defaults,
// overlaid with those of a config file, overlaid with flags that were given.
type settings map[string]any

// newSettings takes the settings off a config struct, by its JSON names.
func newSettings(config any) (settings, error) {
	b, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	s := settings{}
	return s, d.Decode(&s)
}

// layered returns the settings of a base, overlaid with those of a config file,
// overlaid with the flags that were given; flags has the values of all flags.
func layered(base, flags any, file settings, set *pflag.FlagSet) (settings, error) {
	if err := checkFinite(file, set); err != nil {
		return nil, err
	}
	s, err := newSettings(base)
	if err != nil {
		return nil, err
	}
	values, err := newSettings(flags)
	if err != nil {
		return nil, err
	}
	s.overlay(file)
	s.given(set, values)
	return s, nil
}

// checkFinite refuses infinities and NaN, which YAML and flags can spell and the
// settings cannot hold.
func checkFinite(file settings, set *pflag.FlagSet) error {
	for name, value := range file {
		if x, ok := value.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return &pipelines.UsageError{Problem: fmt.Sprintf("--config: %s: got %v, want a finite number", name, x)}
		}
	}
	var err error
	set.Visit(func(f *pflag.Flag) {
		x, parseErr := strconv.ParseFloat(f.Value.String(), 64)
		if f.Value.Type() == "float64" && parseErr == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = &pipelines.UsageError{Problem: fmt.Sprintf("--%s %v: want a finite number", f.Name, x)}
		}
	})
	return err
}

// into writes the settings into a config struct.
func (s settings) into(config any) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, config); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return &pipelines.UsageError{Problem: fmt.Sprintf("--%s: got a %s, want %s", wrong.Field, wrong.Value, wrong.Type)}
		}
		return err
	}
	return nil
}

// readConfig reads a config file: YAML of which the keys are flags.
func readConfig(ctx context.Context, url string, flags *pflag.FlagSet) (settings, error) {
	if url == "" {
		return settings{}, nil
	}
	b, err := pipelines.ReadConfig(ctx, url)
	if err != nil {
		return nil, err
	}
	s := settings{}
	if err := yaml.Unmarshal(b, &s); err != nil {
		return nil, &pipelines.UsageError{Problem: fmt.Sprintf("--config %s: not YAML: %v", url, err)}
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for key, value := range s {
		if !slices.Contains(names, key) || key == "config" {
			hint := ""
			if near := pipelines.Nearest(key, names); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, &pipelines.UsageError{Problem: fmt.Sprintf("--config %s: unknown key %q%s", url, key, hint)}
		}
		if text, ok := value.(string); ok && flags.Lookup(key).Value.Type() == "stringSlice" {
			s[key] = strings.Split(text, ",")
		}
		if flags.Lookup(key).Value.Type() == "string" { // such as `split: 70/10/20` or a numeric column name
			s[key] = fmt.Sprint(value)
		}
	}
	return s, nil
}

// overlay puts other's values over s.
func (s settings) overlay(other settings) {
	for name, value := range other {
		s[name] = value
	}
}

// given puts the flags that were given over s. all has the values of all flags.
func (s settings) given(flags *pflag.FlagSet, all settings) {
	flags.Visit(func(f *pflag.Flag) {
		if value, ok := all[f.Name]; ok {
			s[f.Name] = value
		}
	})
}

// text returns a setting as text.
func (s settings) text(name string) string {
	if s[name] == nil {
		return ""
	}
	return fmt.Sprint(s[name])
}

// addStorageFlags adds the flags of reading from object stores.
func addStorageFlags(f *pflag.FlagSet, c *pipelines.StorageConfig) {
	f.Int64Var(&c.ReadAhead, "read_ahead", c.ReadAhead, "bytes that are fetched from object stores before they are needed")
	addStorageTimeout(f, &c.StorageTimeout)
}

func addStorageTimeout(f *pflag.FlagSet, seconds *float64) {
	f.Float64Var(seconds, "storage_timeout", *seconds, "seconds without a byte from an object store after which a request is tried again")
}

// engineFlags are those of the SDK's flags that a run on an engine needs.
func engineFlags() map[string]string {
	return map[string]string{
		"endpoint":         "of an engine: HOST:PORT of its job service",
		"environment_type": "of an engine's workers: PROCESS (this binary, at the same path on its hosts), LOOPBACK (this process) or DOCKER",
		"parallelism":      "of an engine: number of workers; -1: its own default",
	}
}

func showEngineFlags(f *pflag.FlagSet) {
	for name, usage := range engineFlags() {
		f.Lookup(name).Hidden, f.Lookup(name).Usage = false, usage
	}
}

// setEngineFlags hands what a config file says of an engine to the SDK, unless
// the flag was given.
func setEngineFlags(f *pflag.FlagSet, file settings) error {
	for name := range engineFlags() {
		value, ok := file[name]
		if !ok || f.Changed(name) {
			continue
		}
		if err := f.Set(name, fmt.Sprint(value)); err != nil {
			return &pipelines.UsageError{Problem: fmt.Sprintf("--config: %s: %v", name, err)}
		}
	}
	return nil
}

// addBeamFlags accepts the SDK's own flags without listing them, but for those
// that this verb has under the same name.
func addBeamFlags(flags *pflag.FlagSet) {
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil {
			flags.AddGoFlag(f)
			flags.Lookup(f.Name).Hidden = true
		}
	})
}
