package pages

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Route returns the path of a row through a tree. The row is FILE:N, row N of a Parquet file.
func Route(ctx context.Context, f *source.Files, row string, t *tree.Tree) (*textview.Route, error) {
	file, number, err := parseRow(row)
	if err != nil {
		return nil, err
	}
	values, err := source.Row(ctx, f, file, number, t)
	if err != nil {
		return nil, err
	}
	route, err := textview.NewRoute(t, values)
	if err != nil {
		return nil, err
	}
	route.Row = fmt.Sprintf("row %d of %s", number, file)
	return route, nil
}

// parseRow reads FILE:N.
func parseRow(text string) (file string, number int64, err error) {
	at := strings.LastIndexByte(text, ':')
	if at > 0 {
		number, err = strconv.ParseInt(text[at+1:], 10, 64)
	}
	if at <= 0 || err != nil || number < 0 {
		return "", 0, usage.Errorf("--row %s: want FILE:N, a Parquet file and the number of a row, counted from 0",
			setting.Word(text))
	}
	return text[:at], number, nil
}
