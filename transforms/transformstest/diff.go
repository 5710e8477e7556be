package transformstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Diff returns the first difference of two tree.json, such as
//
//	nodes[4].branches[0].when.ge is 41.5, want 40
//
// It is empty if the trees are equal. The classes come first, then the features, the nodes and all else, such as figures
// of the training.
func Diff(want, got []byte) string {
	var documents [2]any
	for i, b := range [][]byte{want, got} {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber() // whole numbers may be beyond float64
		if err := d.Decode(&documents[i]); err != nil {
			return fmt.Sprintf("%s is not a tree.json: %v", []string{"the wanted tree", "the tree"}[i], err)
		}
	}
	return differ("", documents[0], documents[1])
}

// differ returns the first difference of two values below a path.
func differ(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		names := slices.Sorted(maps.Keys(keys))
		if path == "" {
			names = append([]string{"label", "features", "nodes"}, names...)
		} else {
			path += "."
		}
		for _, name := range names {
			if d := differ(path+name, w[name], g[name]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(w), len(g)) {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%s has %d elements, want %d", path, len(g), len(w))
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %s, want %s", path, spell(got), spell(want))
}

// spell returns a value as messages show it.
func spell(x any) string {
	b, err := json.Marshal(x)
	if err != nil || x == nil {
		return "absent"
	}
	return string(b)
}
