package tables

import (
	"context"
	"net/url"
	"strings"

	"github.com/espalier-ml/espalier/pipelines/source"
)

// inlinePrefix begins the URL of a table that stands in the URL itself, as RFC 2397 has it.
const inlinePrefix = "data:text/csv,"

// Inline returns a URL of the content of a CSV file, which needs no file.
func Inline(content string) string { return inlinePrefix + url.PathEscape(content) }

// IsInline reports whether a URL has its content in itself.
func IsInline(u string) bool { return strings.HasPrefix(u, inlinePrefix) }

// read reads a table.
func read(ctx context.Context, f *source.Files, u string) ([]byte, error) {
	if !IsInline(u) {
		return f.Store.ReadAll(ctx, u, maxCosts)
	}
	content, err := url.PathUnescape(u[len(inlinePrefix):])
	return []byte(content), err
}
