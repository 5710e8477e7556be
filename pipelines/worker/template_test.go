package worker_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	dataflowapi "google.golang.org/api/dataflow/v1b3" // has Google's form of the metadata

	"github.com/espalier-ml/espalier/pipelines/publish"
	"github.com/espalier-ml/espalier/pipelines/worker"
)

// TestTemplateMetadata: the metadata of the nightly job has the form of Google's API, one parameter for each setting, with
// what the form requires, and defaults that its patterns accept. The destination has no default, and is not optional.
func TestTemplateMetadata(t *testing.T) {
	c := publish.Default("", "")
	settings := c.Settings()
	b, err := worker.TemplateMetadata("night", "trains a tree", settings)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var got dataflowapi.TemplateMetadata
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	// https://cloud.google.com/dataflow/docs/guides/templates/configuring-flex-templates: names, and required fields
	name := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
	if got.Name != "night" || got.Description == "" || len(got.Parameters) != len(settings) {
		t.Fatalf("%+v", got)
	}
	for i, p := range got.Parameters {
		if p.Name != settings[i].Name || !name.MatchString(p.Name) || p.Label == "" || p.HelpText != settings[i].Help ||
			p.IsOptional != (p.Name != "destination") || p.DefaultValue != settings[i].Value.String() {
			t.Errorf("%+v, want the setting %s", p, settings[i].Name)
		}
		if !slices.Contains([]string{"TEXT", "BOOLEAN", "NUMBER"}, p.ParamType) {
			t.Errorf("%s is of type %s", p.Name, p.ParamType)
		}
		for _, pattern := range p.Regexes {
			if r, err := regexp.Compile(pattern); err != nil || !r.MatchString(p.DefaultValue) || r.MatchString("x") {
				t.Errorf("%s: %s, default %q, %v", p.Name, pattern, p.DefaultValue, err)
			}
		}
	}
}
