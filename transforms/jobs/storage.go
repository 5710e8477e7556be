package jobs

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Storage gives DoFns access to files.
type Storage interface {
	// RowGroup opens the row group of a task for reading some columns. It may begin to
	// fetch them, and may block until earlier row groups are closed.
	RowGroup(ctx context.Context, t Task, columns []string) (dataset.RowGroup, error)
	// Predictions begins the output file of a task. The file has the copied columns of
	// the task's input, then the columns of predictions.
	Predictions(ctx context.Context, t Task, copied []string, columns []PredictionColumn) (Predictions, error)
	// Read returns the content of a scratch file.
	Read(ctx context.Context, url string) ([]byte, error)
	// Write writes a scratch file. The caller must not change b afterwards.
	Write(ctx context.Context, url string, b []byte) error
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readersAhead is the number of scratch files that readEach reads at the same time, as a
// request to an object store takes long.
const readersAhead = 16

// readEach reads scratch files, several at a time, and calls f with the content of each.
// The content of a missing file is nil. The calls come one at a time, in any order.
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
			break // wait returns the error
		}
	}
	return p.wait()
}
