package models

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Live keeps an object prepared from a model, such as a scorer, and prepares it again when the
// model is replaced. Its methods are safe for concurrent use.
type Live[S any] struct {
	store   *objectstore.Store
	url     string
	prepare func(*Model) (S, error)

	current atomic.Pointer[prepared[S]]
	reading sync.Mutex // held while the model is read
}

// prepared is a model with the object prepared from it.
type prepared[S any] struct {
	model *Model
	value S
}

// NewLive reads a model, as From does, and prepares it. prepare may refuse a model.
func NewLive[S any](
	ctx context.Context, store *objectstore.Store, url string, prepare func(*Model) (S, error),
) (*Live[S], error) {
	l := &Live[S]{store: store, url: url, prepare: prepare}
	if _, err := l.Reload(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Current returns the latest usable model, and the object prepared from it. It does not wait while
// a model is being read.
func (l *Live[S]) Current() (*Model, S) {
	p := l.current.Load()
	return p.model, p.value
}

// Reload reads the model again and reports whether it has changed. If it cannot be read or
// prepared, the previous model stays.
func (l *Live[S]) Reload(ctx context.Context) (changed bool, err error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	m, err := From(ctx, l.store, l.url)
	if err != nil {
		return false, err
	}
	if before := l.current.Load(); before != nil && before.model.ID == m.ID {
		return false, nil
	}
	value, err := l.prepare(m)
	if err != nil {
		return false, err
	}
	l.current.Store(&prepared[S]{m, value})
	return true, nil
}

// Follow reloads the model at an interval, until the context ends. It calls reloaded after
// each change, with nil, and after each failure, with the error.
func (l *Live[S]) Follow(ctx context.Context, every time.Duration, reloaded func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if changed, err := l.Reload(ctx); changed || err != nil && !errors.Is(err, context.Canceled) {
			reloaded(err)
		}
	}
}
