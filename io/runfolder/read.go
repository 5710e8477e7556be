package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Read reads a folder of a kind back: the documents with the given names, or without
// names all of them, with the trees of the frontier and the names of the Parquet files
// that manifest.json lists. A document that a run may lack may be missing.
func Read(ctx context.Context, s *objectstore.Store, folder string, kind Kind, names ...string) (*Run, error) {
	r := new(Run)
	wanted, err := kind.named(names)
	if err != nil {
		return nil, err
	}
	if err := r.read(ctx, s, folder, kind, wanted); err != nil || len(names) > 0 {
		return r, err
	}
	return r, r.read(ctx, s, folder, kind, kind.manyOf(r))
}

// stored is a file to be read, and its document.
type stored struct {
	*Document

	name string
}

// named returns the documents of one file that have the given names, all without names.
func (k Kind) named(names []string) ([]stored, error) {
	var wanted []stored
	for _, d := range k.Documents() {
		if d.many == nil && (len(names) == 0 || slices.Contains(names, d.Name)) {
			wanted = append(wanted, stored{&d, d.Name})
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(wanted, func(f stored) bool { return f.name == name }) {
			return nil, fmt.Errorf("%s is not a document of %s", name, k.terms().whole)
		}
	}
	return wanted, nil
}

// manyOf returns the numbered files in the manifest's list. It sets Rows to the names of the
// Parquet files.
func (k Kind) manyOf(r *Run) []stored {
	var wanted []stored
	for _, name := range *r.listed() {
		d := k.DocumentOf(name)
		switch {
		case d == nil || d.decode == nil:
			r.Rows = append(r.Rows, name)
		case d.many != nil:
			wanted = append(wanted, stored{d, name})
		}
	}
	return wanted
}

// DocumentOf returns the document of a file below a folder of the kind; nil: no document has
// such a name. Files of predictions have names of the input, and no document.
func (k Kind) DocumentOf(name string) *Document {
	for _, d := range k.Documents() {
		if ok, _ := path.Match(d.pattern, name); ok || d.many == nil && d.Name == name { // the patterns are good ones
			return &d
		}
	}
	return nil
}

// read reads files at the same time, and adds their values in order.
func (r *Run) read(ctx context.Context, s *objectstore.Store, folder string, kind Kind, files []stored) error {
	contents := make([][]byte, len(files))
	err := parallel.AtOnce(len(files), func(i int) (err error) {
		url := objectstore.Join(folder, files[i].name)
		if files[i].many != nil { // the manifest lists it
			if url, err = s.Within(folder, files[i].name); err != nil {
				return usage.Errorf("%v", err)
			}
		}
		contents[i], err = s.ReadAll(ctx, url, MaxModel)
		switch absent := errors.Is(err, fs.ErrNotExist); {
		case err == nil || absent && files[i].optional:
			return nil
		case absent:
			return kind.lacks(folder, files[i].name)
		default:
			return usage.Errorf("%v", err)
		}
	})
	if err != nil {
		return err
	}
	for i, f := range files {
		if contents[i] == nil { // it is not there
			continue
		}
		if err := f.decode(r, contents[i]); err != nil {
			return usage.Errorf("%s: %v", objectstore.Join(folder, f.name), err)
		}
	}
	return r.agree(folder)
}

// lacks returns the error for a folder without a file that each folder of the kind has.
func (k Kind) lacks(folder, name string) error {
	return usage.Errorf("%s has no %s: name the folder of %s", folder, name, k.terms().finished)
}

// agree refuses documents of different runs.
func (r *Run) agree(folder string) error {
	if r.Tree != nil && r.Metrics != nil && !r.Metrics.has(r.Tree.Label.Classes) {
		return usage.Errorf("%s: %s and %s have other classes: one of the files is damaged or of another run", folder, TreeName,
			MetricsName)
	}
	if r.Tree == nil || r.Schema == nil {
		return nil
	}
	features := r.Schema.Features()
	for i := range r.Tree.Features {
		f := &r.Tree.Features[i]
		at := slices.IndexFunc(features, func(of dataset.Feature) bool { return of.Name == f.Name })
		if len(features) > 0 && (at < 0 || features[at].Kind != f.Kind || features[at].Codes() != f.Codes()) { // earlier versions list none
			return usage.Errorf("%s: the feature %q is another one in %s than in %s: one of the files is damaged or of another run",
				folder, f.Name, SchemaName, TreeName)
		}
	}
	return nil
}

// ReadManifest reads the manifest.json of a training run. Its Config is as it was written, a
// json.RawMessage.
func ReadManifest(ctx context.Context, s *objectstore.Store, folder string) (*Manifest, error) {
	url := objectstore.Join(folder, ManifestName)
	b, err := s.ReadAll(ctx, url, MaxModel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Training.lacks(folder, ManifestName)
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return decodeManifest(url, b)
}

// ReadFinished is ReadManifest of a finished run: the error for any other run is a usage error.
func ReadFinished(ctx context.Context, s *objectstore.Store, folder string) (*Manifest, error) {
	m, err := ReadManifest(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	_, err = s.Stat(ctx, objectstore.Join(folder, SuccessName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage.Errorf("%s has an unfinished run: finish it with train --resume", folder)
	case err != nil:
		return nil, usage.Errorf("%v", err)
	}
	return m, nil
}

func decodeManifest(url string, b []byte) (*Manifest, error) {
	var head struct {
		Format string          `json:"format"`
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(b, &head); err != nil || head.Format != ManifestFormat {
		return nil, usage.Errorf("%s is not the manifest of a training run: name the folder of one", url)
	}
	m, err := decodeJSON[Manifest]("manifest", b)
	if err != nil {
		return nil, usage.Errorf("%s: %v", url, err)
	}
	m.Config = head.Config
	return m, nil
}
