package provenance

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// identify finds the kind of the file and the digest of its tree.
func (o *Origin) identify(ctx context.Context, s *objectstore.Store) error {
	_, err := s.Stat(ctx, o.File)
	switch {
	case errors.Is(err, objectstore.ErrFolder), errors.Is(err, fs.ErrNotExist):
		err = o.folder(ctx, s, err)
	case err == nil:
		err = o.content(ctx, s)
		if err == nil && o.Predictions == nil && o.Folder == "" {
			err = o.listed(ctx, s)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.As(err, new(*usage.Error)) {
		return usage.Errorf("%v", err)
	}
	if err != nil {
		return err
	}
	if o.Digest == "" {
		return usage.Errorf("%s names no tree: want predictions, a run folder, a tree.json, a report or an export", o.File)
	}
	return nil
}

// folder identifies a folder by the document that lists its files. absent is the error if it has none.
func (o *Origin) folder(ctx context.Context, s *objectstore.Store, absent error) error {
	for _, name := range []string{runfolder.DataManifestName, runfolder.ManifestName, latest.Name} {
		url := objectstore.Join(o.File, name)
		b, err := s.ReadAll(ctx, url, runfolder.MaxModel)
		if err == nil {
			return o.document(ctx, s, url, b)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if errors.Is(absent, objectstore.ErrFolder) {
		return nil
	}
	return usage.Errorf("%s does not exist", o.File)
}

// content identifies a file by its footer or its text.
func (o *Origin) content(ctx context.Context, s *objectstore.Store) error {
	f, err := parquetio.Open(ctx, s, o.File)
	if err == nil {
		if stamp := runfolder.StampFrom(f.Metadata); stamp.Digest != "" {
			o.Kind = Predictions
			o.Digest = stamp.Digest
			o.Run = stamp.Run
			o.Espalier = stamp.Espalier
		}
		o.further(f)
		return nil
	}
	if !errors.As(err, new(*dataset.DataError)) {
		return err
	}
	b, err := s.ReadAll(ctx, o.File, runfolder.MaxModel)
	if err != nil {
		return err
	}
	return o.document(ctx, s, o.File, b)
}

// further lists the further trees in the footer of predictions.
func (o *Origin) further(f *parquetio.File) {
	for n := 1; ; n++ {
		stamp := runfolder.StampFrom(func(key string) string { return f.Metadata(jobs.AlsoKey(n, key)) })
		if stamp.Digest == "" {
			return
		}
		o.Also = append(o.Also, Also{stamp.Digest, stamp.Run, jobs.AlsoPrefix(n)})
	}
}

// The digest in a report, a model card or an export, and the run in an export. Formats quote the name of the run in
// several ways; a name with a quote in it is not read.
var (
	digestIn = regexp.MustCompile(`SHA-256(?: of tree\.json)?[ :*|]+([0-9a-f]{64})`)
	runIn    = regexp.MustCompile(`run (?:\\?"|&#34;)([^"\\&]+)(?:\\?"|&#34;); Espalier (\S+) wrote`)
)

// document identifies a document.
func (o *Origin) document(ctx context.Context, s *objectstore.Store, url string, b []byte) error {
	var head struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(b, &head) // other files have no format
	switch {
	case latest.Is(url):
		_, run, err := latest.Of(ctx, s, url)
		if err != nil {
			return err
		}
		return o.ofRun(ctx, s, run)
	case head.Format == runfolder.PredictionsFormat:
		return o.ofPredictions(b)
	case head.Format == runfolder.ManifestFormat:
		return o.ofRun(ctx, s, objectstore.Join(url, ".."))
	case head.Format == tree.Format:
		o.Kind, o.Digest, o.tree = Tree, tree.Digest(b), url
		return o.inFolder(ctx, s, runfolder.FolderOf(url))
	}
	if found := digestIn.FindSubmatch(b); found != nil {
		o.Kind = Text
		o.Digest = string(found[1])
	}
	if found := runIn.FindSubmatch(b); found != nil {
		o.Run = string(found[1])
		o.Espalier = string(found[2])
	}
	return nil
}

// ofPredictions takes what a manifest of predictions has.
func (o *Origin) ofPredictions(manifest []byte) error {
	m := new(runfolder.PredictionsManifest)
	if err := json.Unmarshal(manifest, m); err != nil {
		return err
	}
	if o.Digest != "" && o.Digest != m.Digest {
		o.note("the manifest next to the file is about predictions of another tree")
		return nil
	}
	o.Kind = Predictions
	o.Predictions = m
	o.Digest = m.Digest
	o.Espalier = m.Espalier
	o.tree = m.Tree
	o.Also = []Also{}
	for i := range m.Also {
		also := Also{Digest: m.Also[i].Digest, Prefix: m.Also[i].Prefix}
		if m.Also[i].Tree != "" {
			also.Run = nameOf(runfolder.FolderOf(m.Also[i].Tree))
		}
		o.Also = append(o.Also, also)
	}
	if m.Tree != "" {
		o.Folder = runfolder.FolderOf(m.Tree)
		o.Run = nameOf(o.Folder)
	}
	return nil
}

// ofRun identifies the tree of a run folder.
func (o *Origin) ofRun(ctx context.Context, s *objectstore.Store, folder string) error {
	url := objectstore.Join(folder, runfolder.TreeName)
	b, err := s.ReadAll(ctx, url, runfolder.MaxModel)
	if err != nil {
		return err
	}
	if o.Digest == "" {
		o.Kind, o.Digest = Run, tree.Digest(b)
	}
	o.tree = url
	return o.inFolder(ctx, s, folder)
}

// inFolder notes the folder of the run, if it is one.
func (o *Origin) inFolder(ctx context.Context, s *objectstore.Store, folder string) error {
	_, err := s.Stat(ctx, objectstore.Join(folder, runfolder.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	o.Folder, o.Run = folder, nameOf(folder)
	return err
}

// nameOf returns the name of a folder.
func nameOf(folder string) string {
	if absolute, err := filepath.Abs(folder); err == nil && !strings.Contains(folder, "://") {
		folder = filepath.ToSlash(absolute)
	}
	return path.Base(folder)
}

// listed looks for the manifest that lists the file, in the folders above it.
func (o *Origin) listed(ctx context.Context, s *objectstore.Store) error {
	folders, err := s.Above(o.File)
	if err != nil {
		return err
	}
	name := path.Base(o.File)
	for i, folder := range folders {
		if i > 0 {
			name = path.Join(path.Base(folders[i-1]), name)
		}
		for _, manifest := range []string{runfolder.DataManifestName, runfolder.ManifestName} {
			b, err := s.ReadAll(ctx, objectstore.Join(folder, manifest), runfolder.MaxModel)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			var m runfolder.PredictionsManifest
			if json.Unmarshal(b, &m) != nil || !slices.Contains(m.Files, name) {
				continue // of another program, or about other files
			}
			if m.Format == runfolder.ManifestFormat {
				return o.ofRun(ctx, s, folder)
			}
			if at := slices.Index(m.Outputs, name); at >= 0 && at < len(m.Inputs) && (o.Digest == "" || o.Digest == m.Digest) {
				o.Input = &m.Inputs[at]
			}
			return o.document(ctx, s, objectstore.Join(folder, manifest), b)
		}
	}
	return nil
}
