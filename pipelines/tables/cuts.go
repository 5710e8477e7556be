package tables

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// cutsHeader is the first line of a file of cuts.
const cutsHeader = "feature,cut"

// ReadCuts returns the cuts of a configuration by feature, ascending, from the CSV file that it names, if any, with the
// digest of the file. columns are the names that a line may have. Errors are usage errors.
func ReadCuts(
	ctx context.Context, from *source.Files, c *config.Train, columns []string,
) (cuts map[string][]float64, digest string, err error) {
	url := c.CutsFile
	if url == "" {
		return c.Cuts, "", nil
	}
	b, err := tableFile(ctx, from, "cuts", url)
	if err != nil {
		return nil, "", err
	}
	cuts = make(map[string][]float64)
	err = eachLine(b, "cuts", url, []string{cutsHeader}, func(line int, _, record []string) error {
		feature := record[0]
		cut, err := strconv.ParseFloat(strings.TrimSpace(record[1]), 64)
		switch {
		case !slices.Contains(columns, feature):
			return usage.Errorf("--cuts %s, line %d: no feature %q%s", url, line, feature, setting.Near(feature, columns))
		case err != nil || math.IsNaN(cut) || math.IsInf(cut, 0):
			return usage.Errorf("--cuts %s, line %d: cut %q: want a finite number", url, line, record[1])
		case slices.Contains(cuts[feature], cut):
			return usage.Errorf("--cuts %s, line %d: the feature %q has the cut %s already", url, line, feature, dataset.SpellNumber(cut))
		}
		cuts[feature] = append(cuts[feature], cut)
		return nil
	})
	if err == nil && len(cuts) == 0 {
		err = usage.Errorf("--cuts %s: no cuts below the header %q", url, cutsHeader)
	}
	for _, list := range cuts {
		slices.Sort(list)
	}
	return cuts, fileDigest(b), err
}
