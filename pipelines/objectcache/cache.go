package objectcache

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Cache stores the objects of input files, for one specification of how rows become objects.
// Programs may read and write a cache at the same time.
type Cache struct {
	store *objectstore.Store
	url   string // folder for this specification
}

// File identifies an input file and its content when it was read.
type File struct {
	URL        string `json:"url"`
	Size       int64  `json:"size"` // bytes
	Generation string `json:"generation"`
}

// Entry lists the objects of input files. It is a JSON file next to the blocks.
type Entry struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	Files   []File        `json:"files"`
	Window  bool          `json:"window,omitempty"` // whether these are all files of a run, which may also have other entries
	Made    time.Time     `json:"made"`
	Rows    jobs.RowStats `json:"rows"`

	// Parts has blocks by their names below the folder. The weights in a window's statistics are in
	// units of the run that made it; weights in blocks and in other entries are in units of the
	// weight column's type.
	Parts [dataset.Parts]jobs.ObjectStats `json:"parts"`

	url string // URL of the file
}

const (
	entryFormat  = "espalier/objects"
	entryVersion = 4
	entryPrefix  = "entry-"
	windowPrefix = entryPrefix + "window-"
	entryBytes   = 64 << 20 // greatest size of an entry
	readers      = 16       // entries that are read at the same time
	windows      = 2        // newest windows that are kept, because a run may still read the older one
)

// Open returns the cache below url for objects in this many shards that are made from rows by this
// specification and these features, regardless of their prices. Other specifications have their own
// caches.
func Open(
	s *objectstore.Store, url string, rows *jobs.RowSpec, features []dataset.Feature, classes []string, shards int,
) *Cache {
	h := sha256.New()
	for _, part := range [][]byte{
		rows.Encode(), dataset.EncodeFeatures(dataset.CodingOnly(features)), jobs.MustJSON(classes), jobs.MustJSON(shards), jobs.MustJSON(entryVersion),
	} {
		_, _ = fmt.Fprintf(h, "%d\n%s", len(part), part) // a hash never fails
	}
	return &Cache{s, objectstore.Join(url, hex.EncodeToString(h.Sum(nil)[:12]))}
}

// writing is the prefix of a folder with a lock, which shows that the writer of the blocks with
// that name is alive.
const writing = "writing-"

// NewBlocks returns a new folder for the blocks of an entry, and removes the folders of killed
// programs. The caller must call release after the entry is written or the folder is removed.
func (c *Cache) NewBlocks(ctx context.Context) (folder string, release func(), err error) {
	name := rand.Text()
	lock, _, _, err := runfolder.Acquire(ctx, c.store, objectstore.Join(c.url, writing+name), func(string) {})
	if err == nil {
		err = c.sweep(ctx, writing+name)
	}
	if err != nil {
		return "", nil, usage.Errorf("--object_cache: %v", err)
	}
	return objectstore.Join(c.url, name), func() { lock.Release(ctx) }, nil
}

// sweep removes the blocks of killed programs that no entry names. own is the caller's folder with
// a lock.
func (c *Cache) sweep(ctx context.Context, own string) error {
	locks, err := c.store.List(ctx, objectstore.Join(c.url, writing+"*", runfolder.LockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, o := range locks {
		folder := strings.TrimSuffix(o.URL, "/"+runfolder.LockName)
		if strings.HasSuffix(folder, own) {
			continue
		}
		lock, _, _, err := runfolder.Acquire(ctx, c.store, folder, func(string) {})
		if err != nil { // its writer is alive
			continue
		}
		blocks := objectstore.Join(c.url, folder[strings.LastIndex(folder, writing)+len(writing):])
		if err = c.removeUnused(ctx, blocks); err == nil {
			lock.Release(ctx)
			err = c.store.RemoveEmpty(folder)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// removeUnused removes a folder of blocks unless an entry names them.
func (c *Cache) removeUnused(ctx context.Context, blocks string) error {
	entries, err := c.entries(ctx, entryPrefix)
	if err != nil {
		return err
	}
	for i := range entries {
		for part := range entries[i].Parts {
			for _, url := range entries[i].Parts[part].Blocks {
				if strings.HasPrefix(url, blocks+"/") {
					return nil
				}
			}
		}
	}
	return c.store.RemoveAll(ctx, blocks)
}

// Term is an entry whose objects are added or subtracted.
type Term struct {
	*Entry

	Subtract bool
}

// Plan describes how to obtain the objects of files.
type Plan struct {
	Terms   []Term
	Lacking []int // indexes of the files whose rows must be read
}

// Plan plans the objects of files. It starts from nothing or from a cached window, from which it
// subtracts the files that have left it: whichever leaves the fewest rows to read, and then the
// fewest objects to merge. A file that has changed since it was cached counts as another file.
func (c *Cache) Plan(ctx context.Context, files []File) (*Plan, error) {
	entries, err := c.entries(ctx, entryPrefix)
	if err != nil {
		return nil, err
	}
	var singles, all []*Entry
	for i := range entries {
		if entries[i].Window {
			all = append(all, &entries[i])
		} else {
			singles = append(singles, &entries[i])
		}
	}
	best := from(nil, singles, files)
	for _, window := range all {
		if p := from(window, singles, files); p != nil && p.better(best) {
			best = p
		}
	}
	return best, nil
}

// from returns the plan that starts from a window, or from nothing; nil if it is impossible,
// because files that have left the window have no entries of their own.
func from(window *Entry, singles []*Entry, files []File) *Plan {
	p := new(Plan)
	wanted := make(map[File]bool, len(files)) // files that no term has so far
	for _, file := range files {
		wanted[file] = true
	}
	if window != nil {
		left := make(map[File]bool)
		for _, file := range window.Files {
			if wanted[file] {
				wanted[file] = false
			} else {
				left[file] = true
			}
		}
		p.Terms = append(p.Terms, Term{window, false})
		p.cover(singles, left, true)
		for _, open := range left {
			if open {
				return nil
			}
		}
	}
	p.cover(singles, wanted, false)
	for i, file := range files {
		if wanted[file] {
			p.Lacking = append(p.Lacking, i)
		}
	}
	return p
}

// cover adds terms for entries whose files are all open, and closes these files.
func (p *Plan) cover(entries []*Entry, open map[File]bool, subtract bool) {
	for _, e := range entries {
		if slices.ContainsFunc(e.Files, func(file File) bool { return !open[file] }) {
			continue
		}
		for _, file := range e.Files {
			open[file] = false
		}
		p.Terms = append(p.Terms, Term{e, subtract})
	}
}

func (p *Plan) better(than *Plan) bool {
	if len(p.Lacking) != len(than.Lacking) {
		return len(p.Lacking) < len(than.Lacking)
	}
	return p.objects() < than.objects()
}

// objects returns the number of objects to merge.
func (p *Plan) objects() int64 {
	n := int64(0)
	for _, term := range p.Terms {
		for i := range term.Parts {
			n += term.Parts[i].Objects
		}
	}
	return n
}

// Rows returns the statistics of all rows of the plan.
func (p *Plan) Rows() *jobs.RowStats {
	sum := new(jobs.RowStats)
	for _, term := range p.Terms {
		if !term.Subtract {
			sum.Add(&term.Rows)
		}
	}
	for _, term := range p.Terms {
		if term.Subtract {
			sum.Subtract(&term.Rows)
		}
	}
	return sum
}

// Tasks returns a task of jobs.Coalesce for each block.
func (p *Plan) Tasks() []jobs.Task {
	var tasks []jobs.Task
	for _, term := range p.Terms {
		for part := range term.Parts {
			shards := term.Parts[part].Shards
			for i, url := range term.Parts[part].Blocks {
				tasks = append(tasks, jobs.Task{
					File: url, Part: dataset.Part(part), Shard: shards[i], Block: true, Subtract: term.Subtract, Window: term.Window,
				})
			}
		}
	}
	return tasks
}

// entries reads the entries whose names begin with a prefix, in the order of their names.
func (c *Cache) entries(ctx context.Context, prefix string) ([]Entry, error) {
	objects, err := c.store.List(ctx, objectstore.Join(c.url, prefix+"*.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage.Errorf("--object_cache: %v", err)
	}
	entries, faults := make([]Entry, len(objects)), make([]error, len(objects))
	var wg parallel.Group
	slots := make(chan struct{}, readers)
	for i := range objects {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			faults[i] = c.read(ctx, objects[i].URL, &entries[i])
		})
	}
	wg.Wait()
	return entries, errors.Join(faults...)
}

func (c *Cache) read(ctx context.Context, url string, e *Entry) error {
	b, err := c.store.ReadAll(ctx, url, entryBytes)
	if err == nil {
		err = json.Unmarshal(b, e)
	}
	if err == nil && (e.Format != entryFormat || e.Version != entryVersion) {
		err = fmt.Errorf("format %q, version %d: this program reads %s, version %d", e.Format, e.Version, entryFormat,
			entryVersion)
	}
	if err != nil {
		return usage.Errorf("--object_cache: %s: %v: remove the folder %s, the next run makes it again", url, err, c.url)
	}
	e.url = url
	for part := range e.Parts {
		stats := &e.Parts[part]
		if len(stats.Blocks) != len(stats.Shards) {
			return usage.Errorf("--object_cache: %s: blocks without a shard: remove the folder %s", url, c.url)
		}
		for i, name := range stats.Blocks {
			if stats.Blocks[i], err = c.store.Within(c.url, name); err != nil {
				return usage.Errorf("--object_cache: %s: %v: remove the folder %s", url, err, c.url)
			}
		}
	}
	return nil
}

// Put writes the entry of files whose blocks are in a folder of NewBlocks. If another program has
// cached the same files meanwhile, its entry stays and the blocks of this entry remain unused. Only
// the newest windows are kept.
func (c *Cache) Put(ctx context.Context, e *Entry) error {
	put := *e
	put.Format, put.Version, put.Made = entryFormat, entryVersion, time.Now().UTC()
	for part := range put.Parts {
		blocks := make([]string, len(put.Parts[part].Blocks))
		for i, url := range put.Parts[part].Blocks {
			blocks[i] = strings.TrimPrefix(strings.TrimPrefix(url, c.url), "/")
		}
		put.Parts[part].Blocks = blocks
	}
	prefix := entryPrefix
	if e.Window {
		prefix = windowPrefix
	}
	sum := sha256.Sum256(jobs.MustJSON(put.Files))
	url := objectstore.Join(c.url, prefix+hex.EncodeToString(sum[:12])+".json")
	err := c.store.Put(ctx, url, jobs.MustJSON(&put), objectstore.WriteOptions{IfAbsent: true})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return usage.Errorf("--object_cache: %v", err)
	}
	if e.Window {
		return c.prune(ctx)
	}
	return nil
}

// prune removes all windows except the newest.
func (c *Cache) prune(ctx context.Context) error {
	old, err := c.entries(ctx, windowPrefix)
	if err != nil {
		return err
	}
	slices.SortFunc(old, func(a, b Entry) int { return b.Made.Compare(a.Made) })
	for _, e := range old[min(windows, len(old)):] {
		if err := c.store.Remove(ctx, e.url); err != nil {
			return usage.Errorf("--object_cache: %v", err)
		}
		for part := range e.Parts {
			for _, url := range e.Parts[part].Blocks {
				_ = c.store.Remove(ctx, url) // blocks without an entry are never used
			}
		}
	}
	return nil
}
