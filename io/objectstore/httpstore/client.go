package httpstore

import (
	"context"
	"sync"
)

// Lazy makes the client of a driver when it is first asked for. The zero value
// is ready for use.
type Lazy[C any] struct {
	mu     sync.Mutex
	client *C
}

// Get returns the client. One that could not be made is tried again.
func (l *Lazy[C]) Get(ctx context.Context, o Options, build func(context.Context, Options) (*C, error)) (*C, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil {
		client, err := build(ctx, o)
		if err != nil {
			return nil, err
		}
		l.client = client
	}
	return l.client, nil
}
