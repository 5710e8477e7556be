package parquetio

import (
	"container/list"
	"context"
	"sync"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Cache keeps the footers of the files opened last, since each row group of
// a file is a task of its own. It is safe for concurrent use.
type Cache struct {
	store *objectstore.Store
	limit int

	mu     sync.Mutex
	files  map[string]*list.Element // by URL
	recent *list.List               // of *cached, the last used in front
}

// cached is a footer that was read or is being read.
type cached struct {
	url        string
	generation string
	ready      chan struct{} // closed once file and err are set
	file       *File
	err        error
}

// NewCache returns a cache of at most n footers.
func NewCache(store *objectstore.Store, n int) *Cache {
	return &Cache{store: store, limit: max(n, 1), files: make(map[string]*list.Element), recent: list.New()}
}

// Open returns the file, from the cache if it has not changed since.
func (c *Cache) Open(ctx context.Context, url string) (*File, error) {
	object, err := c.store.Stat(ctx, url)
	if err != nil {
		return nil, err
	}
	entry, mine := c.entry(url, object.Generation)
	if mine {
		entry.file, entry.err = Open(ctx, c.store, url)
		close(entry.ready)
		if entry.err != nil || entry.file.Generation != object.Generation {
			c.drop(entry)
		}
		return entry.file, entry.err
	}
	select {
	case <-entry.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if entry.err != nil {
		return Open(ctx, c.store, url) // the other caller may have been cancelled
	}
	return entry.file, nil
}

// entry returns the entry of a file and whether the caller has to fill it.
func (c *Cache) entry(url, generation string) (entry *cached, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.files[url]; ok {
		if entry, _ := e.Value.(*cached); entry.generation == generation {
			c.recent.MoveToFront(e)
			return entry, false
		}
		c.remove(e)
	}
	entry = &cached{url: url, generation: generation, ready: make(chan struct{})}
	c.files[url] = c.recent.PushFront(entry)
	if c.recent.Len() > c.limit {
		c.remove(c.recent.Back())
	}
	return entry, true
}

func (c *Cache) remove(e *list.Element) {
	if entry, ok := c.recent.Remove(e).(*cached); ok {
		delete(c.files, entry.url)
	}
}

// drop forgets an entry unless it was replaced meanwhile.
func (c *Cache) drop(entry *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.files[entry.url]; ok && e.Value == entry {
		c.remove(e)
	}
}
