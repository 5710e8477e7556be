package main

import (
	"bytes"

	"github.com/espalier-ml/espalier/pipelines/output"
)

// The first lines of files that show and plot write. A file without them is not replaced.
const (
	pageMark = "<!-- espalier show -->\n"
	dotMark  = "// espalier show\n"
	plotMark = "<!-- espalier plot -->\n"
)

// markOf returns the first line of a file of a format. Texts and rules have none.
func markOf(format string) string {
	switch format {
	case formatSVG, formatHTML:
		return pageMark
	case formatDot:
		return dotMark
	default:
		return ""
	}
}

// drawings are the files that show may replace.
func drawings() output.Kind {
	return output.Kind{Is: "dot, svg or html file of espalier show", Another: "another drawing", Own: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(pageMark)) || bytes.HasPrefix(head, []byte(dotMark))
	}}
}

// plots are the files that plot may replace.
func plots() output.Kind {
	return output.Kind{Is: "picture of espalier plot", Another: "another drawing", Own: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(plotMark))
	}}
}
