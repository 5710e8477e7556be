package tree_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder/schematest"
)

// treeFile is a trained tree, whose weights are fixed point, in units of 1/weight_scale. Encode writes the members of the
// file one by one, and Decode reads them one by one.
type treeFile struct {
	Format     string             `json:"format" jsonschema:"enum=espalier/tree"`
	Version    int                `json:"version" jsonschema:"enum=1,enum=2,enum=3,enum=4"` // 2: leaf models; 3: boosters, too; 4: leaf models and a threshold
	Label      tree.Label         `json:"label"`
	Features   []tree.FileFeature `json:"features"` // that some test or leaf model uses
	Algorithm  tree.Algorithm     `json:"algorithm"`
	Training   tree.Training      `json:"training"`
	Complexity tree.Complexity    `json:"complexity"`
	// Certificate is how far the tree is from the cheapest tree that separates the same objects as far.
	Certificate *tree.Certificate `json:"certificate,omitempty"`
	// Boosters are sums of regression trees, which add to the scores of leaf models. A booster has one or more leaves.
	Boosters [][][]tree.FileSplit `json:"boosters,omitempty" jsonschema:"minItems=1"`
	Nodes    []tree.FileNode      `json:"nodes" jsonschema:"minItems=1"` // numbered from the root, 0
}

// schemaColumn is a column of schema.json. A feature with two codes or more has the members of a feature of tree.json.
type schemaColumn struct {
	tree.FileColumn

	Feature tree.FileFeature `json:",inline"`
}

// TestSchemasGenerated: the schema files of tree.json and schema.json equal the schemas generated from the types that
// read and write these documents. With the flag -update it writes the files.
func TestSchemasGenerated(t *testing.T) {
	hooks := schematest.Hooks{
		reflect.TypeFor[treeFile](): func(s *jsonschema.Schema) {
			boosters := schematest.Property(s, "boosters")
			boosters.Items.MinItems = new(uint64(1))
			boosters.Items.Items.MinItems = new(uint64(1))
			boosters.Items.Items.MaxItems = new(uint64(31))
			s.AllOf = versions()
		},
		reflect.TypeFor[tree.Label](): func(s *jsonschema.Schema) {
			costs := schematest.Property(s, "error_costs").Items
			costs.MinItems = new(uint64(1))
			costs.Items.Minimum = "0"
		},
		reflect.TypeFor[tree.FileSchema](): func(s *jsonschema.Schema) {
			label := schematest.Property(s, "label")
			label.Properties = jsonschema.NewProperties()
			label.Properties.Set("priors", jsonschema.FalseSchema)
			label.Properties.Set("error_costs", jsonschema.FalseSchema)
			label.Properties.Set("decision", jsonschema.FalseSchema)
		},
		reflect.TypeFor[tree.Algorithm](): func(s *jsonschema.Schema) {
			schematest.Enum(s, "name", split.Algorithms()...)
			schematest.Enum(s, "tests", schematest.Names[split.Family]()...)
			schematest.Enum(s, "binning", binning.Methods()...)
			schematest.Enum(s, "leaf_estimate", tree.Estimates()...)
			schematest.Enum(s, "prune", append([]string{"none"}, schematest.Names[prune.Currency]()...)...)
			schematest.Enum(s, "set_ups", append(schematest.Names[split.SetUps](), "never")...) // never: earlier versions
			schematest.Enum(s, "prices", schematest.Names[split.Prices]()...)
			monotone := schematest.Property(s, "monotone")
			monotone.MinProperties = new(uint64(1))
			monotone.AdditionalProperties = &jsonschema.Schema{Enum: []any{1, -1}}
		},
		reflect.TypeFor[tree.FileFeature](): func(s *jsonschema.Schema) {
			numeric, categorical := featureVariants(s)
			schematest.OneOf(s, numeric, categorical)
		},
		reflect.TypeFor[schemaColumn](): func(s *jsonschema.Schema) {
			untested := schematest.Variant(s, keysOf(reflect.TypeFor[tree.FileFeature](), "name")...)
			untested.DependentRequired = nil
			numeric, categorical := featureVariants(s)
			for _, feature := range []*jsonschema.Schema{numeric, categorical} {
				feature.Properties.Set("role", &jsonschema.Schema{Const: "feature"})
			}
			schematest.OneOf(s, untested, numeric, categorical)
		},
		reflect.TypeFor[tree.FileNode](): func(s *jsonschema.Schema) {
			schematest.OneOf(s, schematest.Variant(s, "model"), schematest.Variant(s, "test", "branches"))
		},
		reflect.TypeFor[tree.FileTest](): func(s *jsonschema.Schema) {
			schematest.Enum(s, "kind", schematest.Names[split.Kind]()...)
		},
		reflect.TypeFor[tree.FileRunnerUp](): func(s *jsonschema.Schema) {
			schematest.Enum(s, "kind", schematest.Names[split.Kind]()...)
		},
		reflect.TypeFor[tree.FileWhen](): func(s *jsonschema.Schema) {
			var conditions []*jsonschema.Schema
			for _, keys := range [][]string{
				{"in"},
				{"not_in"},
				{"ge"},
				{"lt"},
				{"ge", "lt"},
				{"not_ge"},
				{"not_lt"},
				{"not_ge", "not_lt"},
				{"other"},
				{"not_other"},
				{"missing"},
				{"not_missing"},
			} {
				c := schematest.Variant(s, keysOf(reflect.TypeFor[tree.FileWhen](), keys...)...)
				c.Required = keys
				conditions = append(conditions, c)
			}
			schematest.OneOf(s, conditions...)
		},
		reflect.TypeFor[tree.FileTerm](): func(s *jsonschema.Schema) {
			schematest.Property(s, "values").Items.MinItems = new(uint64(1))
		},
		reflect.TypeFor[tree.FileSplit](): func(s *jsonschema.Schema) {
			s.OneOf = []*jsonschema.Schema{{Required: []string{"ge"}}, {Required: []string{"is"}}, {Required: []string{"in"}}}
			for _, side := range []string{"yes", "no"} {
				schematest.Property(s, side).OneOf = []*jsonschema.Schema{
					{Type: "integer", Minimum: "1"},
					{Type: "array", MinItems: new(uint64(1)), Items: &jsonschema.Schema{Type: "number"}},
				}
			}
		},
	}
	forms := map[reflect.Type]reflect.Type{
		reflect.TypeFor[tree.FileBranches]():    reflect.TypeFor[[]tree.FileBranch](),
		reflect.TypeFor[tree.FileTerms]():       reflect.TypeFor[[]tree.FileTerm](),
		reflect.TypeFor[dataset.FurtherCosts](): reflect.TypeFor[[]dataset.FurtherCost](),
		reflect.TypeFor[[]json.RawMessage]():    reflect.TypeFor[[]schemaColumn](), // columns of schema.json
	}
	schematest.Test(t, "../..", schematest.Set{
		Documents: []schematest.Document{
			{Name: "tree", Type: reflect.TypeFor[treeFile]()}, {Name: "schema", Type: reflect.TypeFor[tree.FileSchema]()},
		},
		Hooks: hooks, Forms: forms,
	})
}

// featureVariants returns the schemas of a numeric and of a categorical feature.
func featureVariants(s *jsonschema.Schema) (numeric, categorical *jsonschema.Schema) {
	schematest.Enum(s, "unit", schematest.Names[dataset.Unit]()...)
	schematest.Enum(s, "zone", schematest.Names[dataset.Zone]()...)
	schematest.Property(s, "ordered").Const = true // absent: false
	s.Required = slices.Insert(s.Required, slices.Index(s.Required, "type")+1, "cuts", "values")
	s.DependentRequired = map[string][]string{"group": {"group_cost"}, "group_cost": {"group"}}
	numeric = schematest.Variant(s, "values", "other", "ordered")
	numeric.Properties.Set("type", &jsonschema.Schema{Const: dataset.Numeric.String()})
	categorical = schematest.Variant(s, "cuts", "range")
	categorical.Properties.Set("type", &jsonschema.Schema{Const: dataset.Categorical.String()})
	return numeric, categorical
}

// keysOf returns the keys of a struct except some.
func keysOf(of reflect.Type, except ...string) (keys []string) {
	for i := range of.NumField() {
		key := schematest.Key(of.Field(i))
		if !slices.Contains(except, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// versions returns the rules of the versions of tree.json. Only trees of version 2 to 4 have leaf models, and some leaf
// has one. Only trees of version 3 and 4 have boosters; in trees of version 3, some model has one. Exactly the trees with
// leaf models and a threshold are of version 4.
func versions() []*jsonschema.Schema {
	with := schematest.Object
	model := &jsonschema.Schema{Required: []string{"model"}}
	boosted := with("model", &jsonschema.Schema{Required: []string{"booster"}})
	boosted.Required = model.Required
	first := &jsonschema.Schema{
		If:   with("version", &jsonschema.Schema{Const: 1}),
		Then: with("nodes", &jsonschema.Schema{Items: with("model", jsonschema.FalseSchema)}),
		Else: with("nodes", &jsonschema.Schema{Contains: model}),
	}
	third := &jsonschema.Schema{
		If:   with("version", &jsonschema.Schema{Const: 3}),
		Then: with("nodes", &jsonschema.Schema{Contains: boosted}),
		Else: with("nodes", &jsonschema.Schema{Items: with("model", with("booster", jsonschema.FalseSchema))}),
	}
	third.Then.Required = []string{"boosters"}
	third.Else.Properties.Set("boosters", jsonschema.FalseSchema)
	third.Else = &jsonschema.Schema{If: with("version", &jsonschema.Schema{Const: 4}), Else: third.Else}
	decision := with("decision", &jsonschema.Schema{Required: []string{"threshold"}})
	decision.Required = []string{"decision"}
	fourth := &jsonschema.Schema{
		If: &jsonschema.Schema{
			AllOf: []*jsonschema.Schema{with("label", decision), with("nodes", &jsonschema.Schema{Contains: model})},
		},
		Then: with("version", &jsonschema.Schema{Const: 4}),
		Else: with("version", &jsonschema.Schema{Not: &jsonschema.Schema{Const: 4}}),
	}
	return []*jsonschema.Schema{first, third, fourth}
}
