package config_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// declared is a configuration whose fields are declared.
type declared interface {
	Settings() []setting.Setting
	Validate() error
}

// configs returns the default configurations by verb, each with an empty one of its type.
func configs() map[string][2]declared {
	train, predict := config.DefaultTrain(), config.DefaultPredict()
	evaluate := config.DefaultEvaluate()
	return map[string][2]declared{
		"train": {&train, &config.Train{}}, "predict": {&predict, &config.Predict{}},
		"evaluate": {&evaluate, &config.Evaluate{}},
	}
}

// TestConfigsDeclareTheirFields: every exported field of a configuration has one setting
// with a name of its own and with help, and JSON carries all fields.
func TestConfigsDeclareTheirFields(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for verb, pair := range configs() {
		c, again := pair[0], pair[1]
		b, err := json.Marshal(c) // an error names a field without a setting
		if err != nil {
			t.Errorf("%s: %v", verb, err)
			continue
		}
		err = json.Unmarshal(b, again)
		secret := make(map[string]bool) // JSON does not carry them
		for _, s := range c.Settings() {
			secret[s.Name] = s.Conceal != nil
		}
		setting.Inherit(again.Settings(), c.Settings(), func(name string) bool { return !secret[name] })
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%s: %v\nread %+v\nwant %+v", verb, err, again, c)
		}
		if byValue, err := json.Marshal(reflect.ValueOf(c).Elem().Interface()); err != nil || string(byValue) != string(b) {
			t.Errorf("%s: as a value it is %s (%v), want %s", verb, byValue, err, b)
		}
		seen := make(map[string]bool)
		for _, s := range c.Settings() {
			if !name.MatchString(s.Name) || seen[s.Name] || s.Help == "" || strings.HasSuffix(s.Help, ".") {
				t.Errorf("%s: the setting %q, help %q: want a name of its own in lower case, and a phrase", verb, s.Name, s.Help)
			}
			seen[s.Name] = true
			if !strings.Contains(string(b), `"`+s.Name+`":`) {
				t.Errorf("%s: the JSON lacks %s: %s", verb, s.Name, b)
			}
		}
	}
}

// TestDefaultsAreValid: the defaults are valid except for settings that must be given.
func TestDefaultsAreValid(t *testing.T) {
	for verb, want := range map[string]string{
		"train": "--input, --label and --output are required", "predict": "--model, --input and --output are required",
		"evaluate": "--model and --input are required",
	} {
		if err := configs()[verb][0].Validate(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", verb, err, want)
		}
	}
	for _, preset := range []string{"default", "paper"} {
		c, err := config.Preset(preset)
		c.Input, c.Label, c.Output = []string{"a"}, "b", "c"
		if err != nil || c.Validate() != nil {
			t.Errorf("preset %s: %v, %v", preset, err, c.Validate())
		}
	}
}

// TestEarlierSettings: the settings in the manifest of a run of version 0.3 are read.
func TestEarlierSettings(t *testing.T) {
	c := config.DefaultTrain()
	if err := json.Unmarshal([]byte(`{"label": "class", "rows": 0, "object_cache": "", "seed": 3}`), &c); err != nil || c.Label != "class" || c.Seed != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestConfigsRefuseUnknownKeys: a misspelled key is not left out.
func TestConfigsRefuseUnknownKeys(t *testing.T) {
	for verb, text := range map[string]string{
		"train": `{"lamda": 3}`, "predict": `{"max_unsen": 0.5}`, "evaluate": `{"modell": "a"}`,
	} {
		err := json.Unmarshal([]byte(text), configs()[verb][0])
		if err == nil || !strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %s: %v, want the nearest key", verb, text, err)
		}
	}
}

// TestChangeable lists, by hand, the settings without influence on the tree.
func TestChangeable(t *testing.T) {
	c := config.DefaultTrain()
	var got []string
	for _, s := range c.Settings() {
		if s.Changeable {
			got = append(got, s.Name)
		}
	}
	want := []string{
		"output", "overwrite", "resume", "runner", "memory", "memory_objects", "histogram_memory", "levels_per_job", "deadline",
		"read_ahead", "storage_timeout", "storage_patience", "live_files", "job_timeout", "endpoint", "environment_type", "environment_config", "parallelism", "engine_options", "dry_run", "slice", "report", "rejects",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("may differ when a run is resumed: %q, want %q", got, want)
	}
}
