package main

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/runfolder/schematest"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/provenance"
	"github.com/espalier-ml/espalier/pipelines/retraining"
)

// TestSchemasGenerated: the schema files equal the schemas generated from the types that write the documents, and from
// the settings that the verbs declare. With the flag -update it writes the files.
func TestSchemasGenerated(t *testing.T) {
	schematest.Test(t, "../..", schematest.Set{Forms: map[reflect.Type]reflect.Type{
		reflect.TypeFor[dataset.FurtherCosts](): reflect.TypeFor[[]dataset.FurtherCost](),
	}, Documents: []schematest.Document{
		{Name: "ask", Type: reflect.TypeFor[askOutcome](), Title: "espalier ask --json"},
		{Name: "attempt", Type: reflect.TypeFor[retraining.Attempt]()},
		{Name: "comparison", Type: reflect.TypeFor[runfolder.Comparison]()},
		{Name: "distribution", Type: reflect.TypeFor[runfolder.Distribution]()},
		{Name: "drift", Type: reflect.TypeFor[runfolder.Drift]()},
		{Name: "frontier", Type: reflect.TypeFor[runfolder.Frontier]()},
		{Name: "import", Type: reflect.TypeFor[runfolder.ImportManifest]()},
		{Name: "importance", Type: reflect.TypeFor[runfolder.Importance]()},
		{Name: "latest", Type: reflect.TypeFor[latest.Pointer]()},
		{Name: "live", Type: reflect.TypeFor[runfolder.Live]()},
		{Name: "manifest", Type: reflect.TypeFor[runfolder.Manifest]()},
		{Name: "metrics", Type: reflect.TypeFor[runfolder.Metrics]()},
		{Name: "notice", Type: reflect.TypeFor[notice](), Title: "espalier --notices"},
		{Name: "origin", Type: reflect.TypeFor[provenance.Origin]()},
		{Name: "predictions", Type: reflect.TypeFor[runfolder.PredictionsManifest]()},
	}, Hooks: schematest.Hooks{
		reflect.TypeFor[askOutcome](): func(s *jsonschema.Schema) {
			p := schematest.Property(s, "probabilities")
			p.MinProperties = new(uint64(1))
			p.AdditionalProperties = &jsonschema.Schema{Type: "number", Minimum: "0", Maximum: "1"}
		},
		reflect.TypeFor[knownValue](): func(s *jsonschema.Schema) {
			schematest.Types(schematest.Property(s, "value"), "number", "string", "null")
		},
		reflect.TypeFor[runfolder.Point](): func(s *jsonschema.Schema) {
			schematest.Optional(s, "grown", "step")
		},
		reflect.TypeFor[metric.Judgement](): func(s *jsonschema.Schema) {
			schematest.Optional(s, "standard_error", "low", "high") // of an interval that may be absent
			for _, bound := range []string{"low", "high"} {         // of an area
				p := schematest.Property(s, bound)
				p.Minimum = "0"
				p.Maximum = "1"
			}
		},
		reflect.TypeFor[metric.Metrics](): func(s *jsonschema.Schema) {
			schematest.Property(s, "confusion").Items.Items.Minimum = "0"
		},
		reflect.TypeFor[metric.Calibration](): func(s *jsonschema.Schema) {
			schematest.Optional(s, "observed_error", "chance_error", "chance_limit")
		},
		reflect.TypeFor[metric.Slice](): func(s *jsonschema.Schema) {
			s.If = schematest.Object("of", &jsonschema.Schema{Const: metric.SliceOfValue})
			s.Then = &jsonschema.Schema{Required: []string{"value"}}
			schematest.Enum(s, "unit", schematest.Names[dataset.Unit]()...)
		},
		reflect.TypeFor[runfolder.Manifest](): func(s *jsonschema.Schema) {
			c := config.DefaultTrain()
			configured(s, c.Settings())
			schematest.Optional(s, "files")
		},
		reflect.TypeFor[runfolder.PredictionsManifest](): func(s *jsonschema.Schema) {
			c := config.DefaultPredict()
			configured(s, c.Settings())
			schematest.Optional(s, "files", "tree")
		},
		reflect.TypeFor[runfolder.ImportManifest](): func(s *jsonschema.Schema) {
			c := config.DefaultImport()
			configured(s, c.Settings())
		},
	}, Elsewhere: map[reflect.Type]string{
		reflect.TypeFor[retraining.Attempt]():            "attempt.schema.json",
		reflect.TypeFor[runfolder.Manifest]():            "manifest.schema.json",
		reflect.TypeFor[runfolder.PredictionsManifest](): "predictions.schema.json",
		reflect.TypeFor[tree.Algorithm]():                "tree.schema.json#/properties/algorithm",
	}})
}

// configured describes the config of a manifest: a value for each setting. A setting of a list or of a file may also
// have a single value or the values of the file.
func configured(s *jsonschema.Schema, settings []setting.Setting) {
	p := schematest.Property(s, "config")
	p.Type = "object"
	p.Properties = jsonschema.NewProperties()
	p.Required = setting.Names(settings)
	p.AdditionalProperties = jsonschema.FalseSchema
	for _, one := range settings {
		value := new(jsonschema.Schema)
		switch one.Value.Type() {
		case "bool":
			value.Type = "boolean"
		case "count", "size":
			value.Type = "integer"
		case "number", "share", "duration":
			value.Type = "number"
		case "strings":
			schematest.Types(value, "array", "null", "number", "string")
		case "stringArray":
			schematest.Types(value, "array", "null")
		default:
			schematest.Types(value, "object", "string")
		}
		p.Properties.Set(one.Name, value)
	}
}
