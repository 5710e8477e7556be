package parquetio

import (
	"bytes"
	"container/list"
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// SourceOptions bound the memory of a Source.
type SourceOptions struct {
	Footers   int   // number of footers kept; 0: one
	ReadAhead int64 // bytes of column chunks requested or not yet decoded; 0: one row group at a time
	Keep      int64 // bytes of column chunks kept for the next pass
}

// Source reads the files of one process. It keeps the footers of the last files, since each
// row group is a separate task. If a file is not local, it fetches the column chunks of a
// row group when the row group is opened. It keeps chunks within SourceOptions.Keep, since
// training passes over the data twice. It is safe for concurrent use.
type Source struct {
	store   *objectstore.Store
	options SourceOptions
	ahead   *semaphore.Weighted // bytes, first come first served

	mu     sync.Mutex
	files  map[string]*list.Element // by URL
	recent *list.List               // elements *cached, the last used in front
	chunks map[chunkKey][]byte
	kept   int64 // bytes of chunks
}

// cached is a footer, or a footer being read.
type cached struct {
	url        string
	generation string
	ready      chan struct{} // closed once file and err are set
	file       *File
	err        error
}

// chunkKey names a column chunk.
type chunkKey struct {
	url, generation string
	start           int64
}

// NewSource returns a source of the store's files.
func NewSource(store *objectstore.Store, o SourceOptions) *Source {
	o.Footers = max(o.Footers, 1)
	o.ReadAhead = max(o.ReadAhead, 1)
	return &Source{
		store: store, options: o, ahead: semaphore.NewWeighted(o.ReadAhead),
		files: make(map[string]*list.Element), recent: list.New(), chunks: make(map[chunkKey][]byte),
	}
}

// Open returns a file at the generation of the object, or at the present generation if the
// object has none. It reads the footer unless the source keeps the footer of this
// generation.
func (s *Source) Open(ctx context.Context, o objectstore.Object) (*File, error) {
	if o.Generation == "" {
		var err error
		if o, err = s.store.Stat(ctx, o.URL); err != nil {
			return nil, err
		}
	}
	entry, mine := s.entry(o.URL, o.Generation)
	if mine {
		entry.file, entry.err = s.open(ctx, o)
		close(entry.ready)
		if entry.err != nil {
			s.drop(entry)
		}
		return entry.file, entry.err
	}
	select {
	case <-entry.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if entry.err != nil {
		return s.open(ctx, o) // the context of the other caller may have ended
	}
	return entry.file, nil
}

// entry returns the entry of a file. If mine is true, the caller must fill it.
func (s *Source) entry(url, generation string) (entry *cached, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.files[url]; ok {
		if entry, _ := e.Value.(*cached); entry.generation == generation {
			s.recent.MoveToFront(e)
			return entry, false
		}
		s.remove(e)
	}
	entry = &cached{url: url, generation: generation, ready: make(chan struct{})}
	s.files[url] = s.recent.PushFront(entry)
	if s.recent.Len() > s.options.Footers {
		s.remove(s.recent.Back())
	}
	return entry, true
}

func (s *Source) remove(e *list.Element) {
	if entry, ok := s.recent.Remove(e).(*cached); ok {
		delete(s.files, entry.url)
	}
}

// drop removes an entry, unless another has replaced it.
func (s *Source) drop(entry *cached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.files[entry.url]; ok && e.Value == entry {
		s.remove(e)
	}
}

// chunk returns a kept column chunk, or nil.
func (s *Source) chunk(k chunkKey) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chunks[k]
}

// keep keeps a copy of a column chunk if there is room. The chunk may be a part of a larger
// buffer. No other chunk is dropped for it: a pass reads all chunks in turn, so the oldest
// chunk is needed next.
func (s *Source) keep(k chunkKey, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.chunks[k]; ok || s.kept+int64(len(b)) > s.options.Keep {
		return
	}
	s.chunks[k] = bytes.Clone(b)
	s.kept += int64(len(b))
}

// Forget drops all kept column chunks.
func (s *Source) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.chunks)
	s.kept = 0
}
