package runfolder

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// File is a file of a folder.
type File struct {
	Name    string // below the folder
	Content []byte

	// append appends the content as it is written, so that not all large files are in
	// memory at once; nil: Content is the content.
	append func(dst []byte) []byte
}

// Write writes the documents of a run to the folder, all or none, and _SUCCESS last. It
// sets the list of files in the run's manifest. It returns the URLs of Kind.Files.
func (f *Folder) Write(ctx context.Context, r *Run) ([]string, error) {
	files, err := f.kind.encode(r)
	if err != nil {
		return nil, err
	}
	if err := f.commit(ctx, files, r.Rows); err != nil {
		return nil, err
	}
	return f.kind.Files(f.url, r), nil
}

// Add writes a document on which no other document depends into the folder of a finished run, given the manifest of the
// run. The manifest lists the document before it is there. Each write is conditional on the file that Open saw.
func (f *Folder) Add(ctx context.Context, m *Manifest, name string, content []byte) error {
	files := []File{{Name: name, Content: content}}
	if !slices.Contains(m.Files, name) {
		m.Files = append(m.Files, name)
		b, err := encodeJSON(m)
		if err != nil {
			return err
		}
		files = slices.Insert(files, 0, File{Name: ManifestName, Content: b})
	}
	for _, file := range files {
		_, err := objectstore.WriteSeen(ctx, f.store, f.File(file.Name), file.Content, f.condition(file.Name))
		if errors.Is(err, fs.ErrExist) {
			return f.overtaken(file.Name)
		}
		if err != nil {
			return OutputError(err)
		}
	}
	return nil
}

// Files returns the URLs of a run's documents in a folder, _SUCCESS last. Parquet files and
// files in subfolders are left out, because there may be any number of them.
func (k Kind) Files(folder string, r *Run) []string {
	var urls []string
	for _, d := range k.Documents() {
		if d.many == nil && path.Dir(d.Name) == "." && (!d.optional || d.has(r)) {
			urls = append(urls, objectstore.Join(folder, d.Name))
		}
	}
	return append(urls, objectstore.Join(folder, SuccessName))
}

// encode returns the files of a run's documents.
func (k Kind) encode(r *Run) ([]File, error) {
	var listed []string
	for _, d := range k.Documents() {
		if d.Name != k.manifest() {
			listed = append(listed, d.names(r)...)
		}
	}
	*r.listed() = listed
	var files []File
	for _, d := range k.Documents() {
		encoded, err := d.files(r)
		if err != nil {
			return nil, err
		}
		files = append(files, encoded...)
	}
	return files, nil
}

// listed returns the list of files in the run's manifest.
func (r *Run) listed() *[]string {
	switch {
	case r.Manifest != nil:
		return &r.Manifest.Files
	case r.Predictions != nil:
		return &r.Predictions.Files
	case r.Imported != nil:
		return &r.Imported.Files
	default:
		return new([]string)
	}
}
