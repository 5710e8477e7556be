package pipelines

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// groupKey returns the column of the keys of groups: the given column or, if it is empty, the key of a run that has
// trained one of the trees, if the input has this column. It is empty if rows have no groups.
func groupKey(
	ctx context.Context, s *session.Session, in *source.Input, given, label string, trees ...string,
) (string, error) {
	names := in.Names()
	switch {
	case given == config.KeyNone:
		return "", nil
	case given != "" && given == label:
		return "", usage.Errorf("--group: column %q is the label", given)
	case given != "" && !slices.Contains(names, given):
		return "", source.UnknownColumn("group", given, names)
	case given != "":
		return given, checkKey(in, given)
	}
	for _, url := range trees {
		m, err := runfolder.ReadManifest(ctx, s.Files.Store, strings.TrimSuffix(url, "/"+runfolder.TreeName))
		if err != nil {
			continue // the tree is not in a run folder
		}
		var trained struct{ Group, Key string } // Key: of version 0.3
		if raw, _ := m.Config.(json.RawMessage); json.Unmarshal(raw, &trained) != nil {
			continue // a manifest without settings
		}
		if key := cmp.Or(trained.Group, trained.Key); key != "" && key != label && slices.Contains(names, key) {
			return key, checkKey(in, key)
		}
	}
	return "", nil
}

// checkKey refuses a column that cannot be read.
func checkKey(in *source.Input, key string) error {
	return in.Check(&in.Columns[slices.Index(in.Names(), key)])
}
