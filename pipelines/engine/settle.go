package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Settle returns the engine with a name, after a check of what a run needs there. For an
// engine with workers in other processes it replaces relative paths by absolute ones. The
// caller has checked the name: an unknown one is a usage error.
func Settle(ctx context.Context, c *Config, runner string, input *[]string, others ...*string) (Engine, error) {
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
	if urls, err = Absolute(urls...); err != nil {
		return nil, err
	}
	n := len(*input)
	*input = urls[:n:n]
	for i, url := range others {
		*url = urls[n+i]
	}
	return e, check(ctx, c, e, urls)
}

// check runs the check of an engine that may read the SDK's flags.
func check(ctx context.Context, c *Config, e Engine, urls []string) error {
	leave, err := admit(ctx, c)
	if err != nil {
		return err
	}
	defer leave()
	return e.Check(ctx, urls)
}

// Absolute replaces relative paths by absolute ones, and leaves URLs as they are.
func Absolute(urls ...string) ([]string, error) {
	list := make([]string, len(urls))
	for i, url := range urls {
		list[i] = url
		// A damaged URL such as gs:/bucket would become a path of a local folder.
		if err := source.Process.Store.Check(url); err != nil {
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
