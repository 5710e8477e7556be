package contracts

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// maxBytes is the greatest size of a contract.
const maxBytes = 64 << 20

// Read reads the file of --contract, unless it has already been read, so that all work of a run
// uses the same contract; nil if there is no contract.
func Read(ctx context.Context, settings *config.Contract) (*contract.Contract, error) {
	url := settings.ContractFile
	if url == "" || settings.Obeyed != nil {
		return settings.Obeyed, nil
	}
	b, err := source.Process.Store.ReadAll(ctx, url, maxBytes)
	if err != nil {
		return nil, usage.Errorf("--contract: %v", err)
	}
	c, err := contract.Decode(b)
	if err != nil {
		return nil, usage.Errorf("--contract %s: %v", url, err)
	}
	settings.Obeyed = c
	return c, nil
}

// obey gives the roles of a contract to the settings of a training that are not set.
func obey(c *contract.Contract, t *config.Train) {
	for _, s := range []struct {
		role string
		to   *string
	}{{contract.RoleLabel, &t.Label}, {contract.RoleWeight, &t.Weight}, {contract.RoleCount, &t.Count}, {contract.RoleKey, &t.Group}} {
		if names := c.With(s.role); len(names) > 0 {
			*s.to = cmp.Or(*s.to, names[0])
		}
	}
	t.Ignore = union(t.Ignore, c.With(contract.RoleIgnored))
	for i := range c.Columns {
		column := &c.Columns[i]
		listed := slices.Contains(t.Categorical, column.Name) || slices.Contains(t.Numeric, column.Name)
		switch {
		case column.Role != contract.RoleFeature || listed:
		case column.Ordered && t.Ordered[column.Name] == nil:
			t.Ordered = maps.Clone(t.Ordered)
			if t.Ordered == nil {
				t.Ordered = make(map[string][]string)
			}
			t.Ordered[column.Name] = column.Values
		case column.Categorical && column.Type != contract.TypeText:
			t.Categorical = union(t.Categorical, []string{column.Name})
		}
	}
}

// ObeyColumns checks the columns of the input, and returns the input with columns of texts read as the contract says. If
// the contract demands it, columns that it does not list are left out.
func ObeyColumns(
	ctx context.Context, f *source.Files, c *contract.Contract, in *source.Input, t *config.Train,
) (*source.Input, error) {
	in, _, err := declare(ctx, f, c, in)
	if err != nil {
		return nil, err
	}
	if err := structure(c, in, t.ContractFile, nil); err != nil {
		return nil, err
	}
	for i := range in.Columns { // an index that the contract calls a feature is a feature
		column := &in.Columns[i]
		switch {
		case !column.Index || !slices.Contains(c.With(contract.RoleFeature), column.Name):
		case column.Type == dataset.Text:
			t.Categorical = union(t.Categorical, []string{column.Name})
		case !slices.Contains(t.Categorical, column.Name):
			t.Numeric = union(t.Numeric, []string{column.Name})
		}
	}
	if c.OtherColumns == contract.OthersIgnored {
		t.Ignore = union(t.Ignore, others(c, in, t))
	}
	return in, nil
}

// ReadAndObey reads the file of --contract, and copies its roles to settings that are not set.
func ReadAndObey(ctx context.Context, t *config.Train) error {
	c, err := Read(ctx, &t.Contract)
	if err == nil && c != nil {
		obey(c, t)
	}
	return err
}

// others lists the columns of the input that neither the contract nor a setting names.
func others(c *contract.Contract, in *source.Input, t *config.Train) []string {
	known := append(c.Names(), t.Label, t.Weight, t.Count, t.Group, t.SplitColumn)
	return slices.DeleteFunc(in.Names(), func(name string) bool { return slices.Contains(known, name) })
}

// union returns a new list of the elements of both lists, each once.
func union(list, more []string) []string {
	list = slices.Clone(list)
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
