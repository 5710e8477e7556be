package main

import (
	"bytes"

	"github.com/espalier-ml/espalier/pipelines/output"
)

// The first lines of drawings that show and plot write. A file without them is not replaced.
const (
	showMark = "<!-- espalier show -->\n"
	plotMark = "<!-- espalier plot -->\n"
)

// drawings are the files that a verb may replace: those that begin with its mark.
func drawings(verb, mark string) output.Kind {
	return output.Kind{Is: "drawing of espalier " + verb, Another: "another drawing", Own: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(mark))
	}}
}
