package runfolder

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// SuccessName comes last into a folder: one without it is not finished.
const SuccessName = "_SUCCESS"

// Kind says what a verb writes into a folder.
type Kind struct {
	format   string   // of its manifest.json
	what     string   // the whole, for people: "a run"
	done     string   // "a finished run"
	begun    string   // "an unfinished run"
	again    string   // how that is gone on with or replaced
	files    []string // that it may write, beside manifest.json and the mark of success
	patterns []string // of further files, whose number is not known beforehand

	// writesTell says that files of the patterns are only in the way if they have the very
	// names of those written, as the writes find out: a folder that cannot be listed will do.
	writesTell bool

	// unlisted returns the files of an earlier version's run, whose manifest.json lists
	// none.
	unlisted func(ctx context.Context, f *Folder, manifest []byte) ([]string, error)
}

// Folder is the output of a run: files that are committed together. A run writes where
// nothing lies, or over files that the manifest.json of an earlier run in the
// folder lists.
type Folder struct {
	store   *objectstore.Store
	url     string
	kind    *Kind
	held    map[string]objectstore.Object // what lay there when the run began, by name
	earlier bool                          // there is a manifest.json of this kind
	begun   bool                          // claim has written it
	owned   map[string]bool               // files that it lists
}

// Document is a file of a folder.
type Document struct {
	Name    string
	Content []byte
}

// head is what every manifest.json says of the files beside it.
type head struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Espalier string    `json:"espalier,omitempty"` // version of the program
	Started  time.Time `json:"started,omitzero"`
	Files    []string  `json:"files"` // written by the run, beside manifest.json and _SUCCESS
}

// Open looks at what an output folder holds under the names that a run would
// write, before any work is done. Files of others are refused, and so is an
// earlier run's result unless it is to be replaced. names are those of files
// beside the kind's own.
func Open(ctx context.Context, s *objectstore.Store, url string, kind *Kind, replace bool, names ...string) (*Folder, error) {
	f := &Folder{store: s, url: url, kind: kind, held: make(map[string]objectstore.Object)}
	if err := f.look(ctx, slices.Concat(kind.files, names)); err != nil {
		return nil, OutputError(err)
	}
	if err := f.readManifest(ctx); err != nil {
		return nil, err
	}
	if err := f.refuseForeign(); err != nil {
		return nil, err
	}
	switch {
	case !f.earlier || replace:
		return f, nil
	case f.Finished():
		return nil, usage.Errorf("--output %s has %s: choose another folder, or replace it with --overwrite", url, kind.done)
	default:
		return nil, usage.Errorf("--output %s has %s: %s", url, kind.begun, kind.again)
	}
}

// OutputError makes a usage error of a fault of the output, unless it is one already.
func OutputError(err error) error {
	if err == nil || errors.As(err, new(*usage.Error)) {
		return err
	}
	return usage.Errorf("--output: %v", err)
}

// Finished reports whether the folder had the mark of success.
func (f *Folder) Finished() bool {
	_, ok := f.held[SuccessName]
	return ok
}

// Holds reports whether a file lay there when the run began.
func (f *Folder) Holds(name string) bool {
	_, ok := f.held[name]
	return ok
}

// File returns the URL of a file of the folder.
func (f *Folder) File(name string) string { return objectstore.Join(f.url, name) }
