package jobs

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Storage is what the DoFns need of the world outside.
type Storage interface {
	// RowGroup opens the row group that a task names for reading the columns,
	// and may begin to fetch them. It may wait until others that were opened
	// before are closed.
	RowGroup(ctx context.Context, t Task, columns []string) (dataset.RowGroup, error)
	// Predictions begins to write the output that a task names, with columns
	// copied from its input and others.
	Predictions(ctx context.Context, t Task, copied []string, columns []PredictionColumn) (Predictions, error)
	// Read returns the whole of a scratch file.
	Read(ctx context.Context, url string) ([]byte, error)
	// Write writes a scratch file; it may keep b.
	Write(ctx context.Context, url string, b []byte) error
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readersAhead is the number of scratch files that are read at the same time:
// object stores take a while for each.
const readersAhead = 16

// readEach reads scratch files, some at a time, and calls f with the content of
// each, nil where there is none, one call at a time in any order.
func readEach(ctx context.Context, urls []string, f func(i int, b []byte) error) error {
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	p := newPool(min(readersAhead, len(urls)), 0)
	for i, url := range urls {
		err := p.do(ctx, func(int) error {
			b, err := s.Read(ctx, url)
			if err != nil && !isNotExist(err) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return f(i, b)
		})
		if err != nil {
			break // wait returns it
		}
	}
	return p.wait()
}
