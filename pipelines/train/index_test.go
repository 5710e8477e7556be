package train_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestIndex: the index of a data frame is not a feature, unless a setting or a contract calls it
// one. The rows of the file were sorted by class: its index tells the class of each row.
func TestIndex(t *testing.T) {
	const frame = "../../io/parquetio/testdata/frame.parquet"
	infer := config.DefaultInferContract()
	infer.Input, infer.Label = []string{frame}, "class"
	b, err := contracts.Infer(t.Context(), infer, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	contract := string(b)
	before, after, _ := strings.Cut(contract, "name: shop")
	edited := before + "name: shop" + strings.Replace(after, "role: ignored", "role: feature", 1)
	for name, test := range map[string]struct {
		edit     func(c *config.Train)
		features []string
		left     string // columns that the warning names
	}{
		"by default":           {func(*config.Train) {}, []string{"x"}, `"__index_level_1__", "shop"`},
		"the contract as such": {func(c *config.Train) { c.ContractFile = textFile(t, "a.yaml", contract) }, []string{"x"}, ""},
		"an edited contract": {
			func(c *config.Train) { c.ContractFile = textFile(t, "b.yaml", edited) }, []string{"shop", "x"}, "",
		},
		"named":   {func(c *config.Train) { c.Categorical = []string{"shop"} }, []string{"shop", "x"}, `"__index_level_1__"`},
		"ignored": {func(c *config.Train) { c.Ignore = []string{"shop"} }, []string{"x"}, `"__index_level_1__"`},
		"the key": {func(c *config.Train) { c.Group = "shop" }, []string{"x"}, `"__index_level_1__"`},
	} {
		c := oneTree()
		c.Input, c.Label, c.Split, c.Output = infer.Input, "class", dataset.Shares{100, 0, 0}, filepath.Join(t.TempDir(), "run")
		test.edit(&c)
		reporter := new(silent)
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var features []string
		schema := readSchema(t, c.Output)
		for i := range schema.Columns {
			if schema.Columns[i].Role == "feature" {
				features = append(features, schema.Columns[i].Name)
			}
		}
		left := ""
		for _, text := range reporter.warnings {
			if rest, ok := strings.CutPrefix(text, "left out: "); ok {
				left, _, _ = strings.Cut(rest, ", the index of")
			}
		}
		if !slices.Equal(features, test.features) || left != test.left {
			t.Errorf("%s: features %q, left out %s, want %q and %s", name, features, left, test.features, test.left)
		}
	}
}
