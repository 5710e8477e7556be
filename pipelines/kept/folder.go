package kept

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Folder keeps the objects of input files, for one way to make objects of rows. Programs may
// read and write a folder at the same time.
type Folder struct {
	store *objectstore.Store
	url   string // of this way to make objects
}

// File names an input file, and what it held when it was read.
type File struct {
	URL        string `json:"url"`
	Size       int64  `json:"size"` // bytes
	Generation string `json:"generation"`
}

// Entry has the objects of some input files. It is a JSON file beside the blocks.
type Entry struct {
	Format  string                          `json:"format"`
	Version int                             `json:"version"`
	Files   []File                          `json:"files"`
	Rows    jobs.RowStats                   `json:"rows"`
	Parts   [dataset.Parts]jobs.ObjectStats `json:"parts"` // blocks by their names below the folder
}

const (
	entryFormat  = "espalier/objects"
	entryVersion = 1
	entryPrefix  = "entry-"
	entryBytes   = 64 << 20 // most bytes of an entry
	readers      = 16       // entries that are read at the same time
)

// Open returns the folder below url for objects that are made of rows by a specification and by
// features without prices. Other specifications, features and classes have other folders.
func Open(s *objectstore.Store, url string, rows *jobs.RowSpec, features []dataset.Feature, classes []string) *Folder {
	h := sha256.New()
	for _, part := range [][]byte{rows.Encode(), dataset.EncodeFeatures(bare(features)), jobs.MustJSON(classes)} {
		_, _ = fmt.Fprintf(h, "%d\n%s", len(part), part) // a hash takes all
	}
	return &Folder{s, objectstore.Join(url, hex.EncodeToString(h.Sum(nil)[:12]))}
}

// NewBlocks returns a new folder for the blocks of an entry.
func (f *Folder) NewBlocks() string { return objectstore.Join(f.url, uuid.NewString()) }

// Find returns entries whose files are all among the given ones, none twice, and the positions
// of the files that no entry has. A file that has changed since is another file.
func (f *Folder) Find(ctx context.Context, files []File) (found []Entry, lacking []int, err error) {
	entries, err := f.entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	open := make(map[File]bool, len(files)) // files that no entry has so far
	for _, file := range files {
		open[file] = true
	}
	for i := range entries {
		if all(entries[i].Files, open) {
			for _, file := range entries[i].Files {
				open[file] = false
			}
			found = append(found, entries[i])
		}
	}
	for i, file := range files {
		if open[file] {
			lacking = append(lacking, i)
		}
	}
	return found, lacking, nil
}

func all(files []File, open map[File]bool) bool {
	for _, file := range files {
		if !open[file] {
			return false
		}
	}
	return true
}

// entries reads all entries, in the order of their names.
func (f *Folder) entries(ctx context.Context) ([]Entry, error) {
	objects, err := f.store.List(ctx, objectstore.Join(f.url, entryPrefix+"*.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage.Errorf("--keep_objects: %v", err)
	}
	entries, faults := make([]Entry, len(objects)), make([]error, len(objects))
	var wg parallel.Group
	slots := make(chan struct{}, readers)
	for i := range objects {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			faults[i] = f.read(ctx, objects[i].URL, &entries[i])
		})
	}
	wg.Wait()
	return entries, errors.Join(faults...)
}

func (f *Folder) read(ctx context.Context, url string, e *Entry) error {
	b, err := f.store.ReadAll(ctx, url, entryBytes)
	if err == nil {
		err = json.Unmarshal(b, e)
	}
	if err == nil && (e.Format != entryFormat || e.Version != entryVersion) {
		err = fmt.Errorf("format %q, version %d: this program reads %s, version %d", e.Format, e.Version, entryFormat,
			entryVersion)
	}
	if err != nil {
		return usage.Errorf("--keep_objects: %s: %v: remove the folder %s, the next run makes it anew", url, err, f.url)
	}
	for part := range e.Parts {
		for i, name := range e.Parts[part].Blocks {
			e.Parts[part].Blocks[i] = objectstore.Join(f.url, name)
		}
	}
	return nil
}

// Keep writes the entry of some files, whose blocks lie in a folder of NewBlocks. If another
// program has kept the same files meanwhile, its entry stays and the blocks of this one remain
// unused.
func (f *Folder) Keep(ctx context.Context, e *Entry) error {
	kept := *e
	kept.Format, kept.Version = entryFormat, entryVersion
	for part := range kept.Parts {
		blocks := make([]string, len(kept.Parts[part].Blocks))
		for i, url := range kept.Parts[part].Blocks {
			blocks[i] = strings.TrimPrefix(strings.TrimPrefix(url, f.url), "/")
		}
		kept.Parts[part].Blocks = blocks
	}
	sum := sha256.Sum256(jobs.MustJSON(kept.Files))
	url := objectstore.Join(f.url, entryPrefix+hex.EncodeToString(sum[:12])+".json")
	err := f.store.Put(ctx, url, jobs.MustJSON(&kept), objectstore.WriteOptions{IfAbsent: true})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return usage.Errorf("--keep_objects: %v", err)
	}
	return nil
}

// Tasks returns a task of jobs.Coalesce for each block of the entry.
func (e *Entry) Tasks() []jobs.Task {
	var tasks []jobs.Task
	for part := range e.Parts {
		for _, url := range e.Parts[part].Blocks {
			tasks = append(tasks, jobs.Task{File: url, Part: dataset.Part(part), Block: true})
		}
	}
	return tasks
}
