package pages

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Exported is a tree as source code.
type Exported struct {
	Source []byte
	Golden []byte   // golden rows in JSON; nil: not asked for
	Checks []string // what was compared, a line each
}

// Export writes the tree of a run folder, or a tree.json, as source code. If rows are given for
// verification, it runs the code on them; a difference is an error.
func Export(ctx context.Context, c config.Export) (*Exported, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t, url, err := runfolder.ReadModel(ctx, source.Process.Store, c.Model)
	if err != nil {
		return nil, err
	}
	with, err := export.WithExtras(c.With)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	stamp := runfolder.StampOf(t, url)
	o := export.Options{
		Format: c.Format, Name: c.Name, Dialect: c.Dialect, Table: c.Table, Digest: stamp.Digest, Run: stamp.Run,
		Version: stamp.Espalier, File: base(c.Output), With: with,
	}
	if err := export.Write(&b, t, o); err != nil {
		return nil, usage.Errorf("%v", err)
	}
	e := &Exported{Source: b.Bytes()}
	if c.Golden == "" && len(c.Verify) == 0 {
		return e, nil
	}
	golden, err := export.Cases(t, export.GoldenRows(t))
	if err != nil {
		return nil, err
	}
	if c.Golden != "" {
		if e.Golden, err = goldenRows(t, golden, o, base(c.Golden)); err != nil {
			return nil, err
		}
	}
	if len(c.Verify) > 0 {
		e.Checks, err = verify(ctx, t, o, &c, golden)
	}
	return e, err
}

// base returns the name of a file without folders; none of no file.
func base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(filepath.ToSlash(file))
}

// goldenRows returns the file of golden rows: a test in the language of the format, or JSON.
func goldenRows(t *tree.Tree, cases []export.Case, o export.Options, file string) ([]byte, error) {
	test, err := export.IsTest(o.Format, file)
	switch {
	case err != nil:
		return nil, err
	case test:
		return export.GoldenTest(t, cases, o, file)
	default:
		return export.GoldenFile(t, cases)
	}
}

// mostDifferences is the greatest number of differences that are reported.
const mostDifferences = 5

// verify runs the code on golden rows and on the rows of the input.
func verify(
	ctx context.Context, t *tree.Tree, o export.Options, c *config.Export, golden []export.Case,
) ([]string, error) {
	o.Name = "" // the drivers call the file by its usual name
	target, err := export.NewTarget(ctx, t, o)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	compare := func(what string, cases []export.Case) error {
		differences, err := target.Compare(ctx, cases, mostDifferences)
		if err == nil && len(differences) > 0 {
			err = fmt.Errorf("--verify: the file differs from the tree on %s:\n  %s", what,
				strings.Join(differences, "\n  "))
		}
		return err
	}
	if err := compare("golden rows", golden); err != nil {
		return nil, err
	}
	checks := []string{fmt.Sprintf("%s: no difference on %d golden rows", c.Format, len(golden))}
	if slices.Equal(c.Verify, []string{config.GoldenRows}) {
		return checks, nil
	}
	total := 0
	err = source.EachRowGroup(ctx, source.Process, c.Verify, t, func(values []dataset.Vector, rows int) error {
		cases, err := export.Cases(t, cellsOf(t, values, rows))
		if err != nil {
			return err
		}
		total += rows
		return compare("rows of "+strings.Join(c.Verify, ", "), cases)
	})
	if err != nil {
		return nil, err
	}
	return append(checks, fmt.Sprintf("%s: no difference on %d rows of %s", c.Format, total,
		strings.Join(c.Verify, ", "))), nil
}

// cellsOf returns rows for export.Cases, from the values of the tree's inputs.
func cellsOf(t *tree.Tree, values []dataset.Vector, rows int) [][]export.Cell {
	tested := t.Tested()
	inputs := tested.Scorer().Features()
	list := make([][]export.Cell, rows)
	for row := range list {
		list[row] = make([]export.Cell, len(tested.Features))
		for i := range inputs {
			v := &values[i]
			cell := &list[row][inputs[i].Feature]
			switch {
			case v.Missing(row):
			case inputs[i].Kind == dataset.Categorical || v.Type != dataset.Number:
				*cell = export.TextCell(v.Spell(row))
			case v.Index != nil:
				*cell = export.NumberCell(v.Numbers[v.Index[row]])
			default:
				*cell = export.NumberCell(v.Numbers[row])
			}
		}
	}
	return list
}
