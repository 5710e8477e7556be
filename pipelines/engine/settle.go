package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Settle returns the engine with a name, and makes sure that a run has what it needs
// there. URLs become such that mean the same in the engine's workers; those of a local
// engine stay as they are.
func Settle(ctx context.Context, runner string, input *[]string, others ...*string) (Engine, error) {
	e, err := Named(runner)
	if err != nil {
		return nil, usage.All([]error{err})
	}
	if e.Traits().Local {
		return e, e.Check(ctx, *input)
	}
	urls := slices.Clone(*input)
	for _, url := range others {
		urls = append(urls, *url)
	}
	if urls, err = absolute(urls...); err != nil {
		return nil, err
	}
	n := len(*input)
	*input = urls[:n:n]
	for i, url := range others {
		*url = urls[n+i]
	}
	return e, check(ctx, e, urls)
}

// check makes sure that a run has what it needs on an engine of other processes.
func check(ctx context.Context, e Engine, urls []string) error {
	if err := admit(ctx); err != nil {
		return err
	}
	defer leave()
	return e.Check(ctx, urls)
}

// absolute returns paths that mean the same in other processes.
func absolute(urls ...string) ([]string, error) {
	list := make([]string, len(urls))
	for i, url := range urls {
		list[i] = url
		if err := source.Process.Store.Check(url); err != nil { // before it becomes a path that there can be
			return nil, usage.Errorf("%v", err)
		}
		if strings.Contains(url, "://") || filepath.IsAbs(url) {
			continue
		}
		abs, err := filepath.Abs(url)
		if err != nil {
			return nil, err
		}
		list[i] = abs
	}
	return list, nil
}
