package httpstore

import (
	"context"
	"sync"
)

// Lazy makes the client of a driver at its first use. The zero value is ready for use.
type Lazy[C any] struct {
	mu     sync.Mutex
	client *C
}

// Get returns the client. After a failure the next call tries to make it again.
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
