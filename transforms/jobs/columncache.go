package jobs

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// ColumnCache keeps decoded columns for several runs of one process that read the same files, such as
// trainings on several splits of a data set. It keeps row groups as long as there is room for all
// their wanted columns; others are read by each run. It is safe for concurrent use.
type ColumnCache struct {
	mu     sync.Mutex
	room   int64 // bytes left
	groups map[groupKey]*keptGroup
}

// groupKey names a row group of one generation of a file.
type groupKey struct {
	url, generation string
	group           int
	digits          string // columns of numbers that are read as texts
}

// keptGroup has the kept columns of a row group.
type keptGroup struct {
	mu      sync.Mutex // held while columns are decoded
	rows    int
	columns map[string]*dataset.Vector
}

// NewColumnCache returns a cache that holds decoded columns of at most this number of bytes.
func NewColumnCache(bytes int64) *ColumnCache {
	return &ColumnCache{room: bytes, groups: make(map[groupKey]*keptGroup)}
}

// cacheKey is the key of the ColumnCache in a context.
type cacheKey struct{}

// Share returns a context in which runs keep and find decoded columns here.
func (r *ColumnCache) Share(ctx context.Context) context.Context {
	return context.WithValue(ctx, cacheKey{}, r)
}

// ColumnCacheOf returns the cache that a context shares; nil if absent.
func ColumnCacheOf(ctx context.Context) *ColumnCache {
	r, _ := ctx.Value(cacheKey{}).(*ColumnCache)
	return r
}

// opener opens the row group for some of its columns.
type opener func(names []string) (dataset.RowGroup, error)

// open returns the row group with the wanted columns. It decodes and keeps the missing ones, if there
// is room.
func (r *ColumnCache) open(key groupKey, names []string, open opener) (dataset.RowGroup, error) {
	if r == nil || len(names) == 0 {
		return open(names)
	}
	r.mu.Lock()
	g := r.groups[key]
	if g == nil {
		g = &keptGroup{columns: make(map[string]*dataset.Vector)}
		r.groups[key] = g
	}
	r.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return g.columns[name] != nil })
	if fits, err := r.complete(g, missing, open); err != nil {
		return nil, err
	} else if !fits {
		return open(names)
	}
	k := &keptRows{rows: g.rows}
	for _, name := range names {
		k.columns = append(k.columns, g.columns[name])
	}
	return k, nil
}

// complete decodes and keeps missing columns, if there is room.
func (r *ColumnCache) complete(g *keptGroup, missing []string, open opener) (fits bool, err error) {
	if len(missing) == 0 {
		return true, nil
	}
	in, err := open(missing)
	if err != nil {
		return false, err
	}
	least := int64(in.Rows()) * int64(len(missing)) * bytesOfNumber
	if !r.take(least) {
		return false, in.Close()
	}
	if err := g.decode(in, missing); err != nil {
		return false, err
	}
	more := -least
	for _, name := range missing {
		more += sizeOf(g.columns[name])
	}
	r.add(-more)
	return true, nil
}

// take takes room, if there is so much.
func (r *ColumnCache) take(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.room {
		return false
	}
	r.room -= bytes
	return true
}

func (r *ColumnCache) add(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room += bytes
}

// decode decodes and keeps columns.
func (g *keptGroup) decode(in dataset.RowGroup, names []string) error {
	decoded := make([]dataset.Vector, len(names))
	faults := make([]error, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0), func(i int) { faults[i] = in.ReadColumn(i, &decoded[i]) })
	if err := cmp.Or(append(faults, in.Close())...); err != nil {
		return err
	}
	g.rows = in.Rows()
	for i, name := range names {
		g.columns[name] = &decoded[i]
	}
	return nil
}

const bytesOfNumber, bytesOfIndex, bytesOfText = 8, 4, 16

// sizeOf returns the bytes of a column in memory.
func sizeOf(v *dataset.Vector) int64 {
	n := int64(len(v.Numbers))*bytesOfNumber + int64(len(v.Index))*bytesOfIndex
	for _, text := range v.Texts {
		n += bytesOfText + int64(len(text))
	}
	return n
}

// keptRows is an open row group whose columns are decoded.
type keptRows struct {
	rows    int
	columns []*dataset.Vector
}

// Rows implements dataset.RowGroup.
func (k *keptRows) Rows() int { return k.rows }

// ReadColumn implements dataset.RowGroup.
func (k *keptRows) ReadColumn(i int, dst *dataset.Vector) error { return k.ReadRows(i, 0, k.rows, dst) }

// ReadRows implements dataset.RowGroup. It copies, as callers reuse the buffers.
func (k *keptRows) ReadRows(i, from, to int, dst *dataset.Vector) error {
	v := k.columns[i]
	dst.Type = v.Type
	if v.Index == nil {
		dst.Index = nil
		dst.Texts = nil
		dst.Numbers = append(dst.Numbers[:0], v.Numbers[from:to]...)
		return nil
	}
	dst.Index = append(dst.Index[:0], v.Index[from:to]...)
	dst.Numbers = append(dst.Numbers[:0], v.Numbers...)
	dst.Texts = append(dst.Texts[:0], v.Texts...)
	return nil
}

// PageRows implements dataset.RowGroup: any rows are copied alone.
func (k *keptRows) PageRows() int { return 0 }

// Close implements dataset.RowGroup.
func (k *keptRows) Close() error { return nil }
