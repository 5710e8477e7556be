package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Replace replaces the named documents of the folder's run by those of r, or adds them, and adds
// files that r has besides. All other files of the run stay. The manifest of r is written, too, with all
// files. Files are written aside first; _SUCCESS goes before they get their names and comes
// last. A folder in which Replace was interrupted has no _SUCCESS: Replace anew mends it.
func (f *Folder) Replace(ctx context.Context, r *Run, names []string, added ...File) error {
	listed := slices.Clone(r.Manifest.Files)
	for _, file := range added {
		names = append(slices.Clip(names), file.Name)
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			listed = append(listed, name)
		}
	}
	r.Manifest.Files = listed
	files := slices.Clone(added)
	for _, d := range f.kind.Documents() {
		if d.many != nil || d.Name != ManifestName && !slices.Contains(names, d.Name) {
			continue
		}
		encoded, err := d.files(r)
		if err != nil {
			return err
		}
		files = append(files, encoded...)
	}
	return f.replace(ctx, append(files, File{Name: SuccessName}))
}

// replace publishes files. All other files of the run stay.
func (f *Folder) replace(ctx context.Context, files []File) error {
	all, err := f.writeAside(ctx, files)
	defer func() {
		for _, p := range all {
			_ = p.Abort() // after Commit nothing is left to undo
		}
	}()
	if err != nil {
		return OutputError(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *pending) int { // publish takes the last one for the mark
		return strings.Compare(strconv.FormatBool(a.name == SuccessName), strconv.FormatBool(b.name == SuccessName))
	})
	if err := f.remove(ctx, SuccessName); err != nil {
		return err
	}
	failed, err := publish(all)
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(failed)
	}
	return OutputError(err)
}

// CanReplace refuses a folder without a finished run whose documents Replace may replace. A run
// with a promotion is one, though _SUCCESS may be missing: the promotion was interrupted.
func (f *Folder) CanReplace(m *Manifest) error {
	if f.Finished() || len(m.Promotions) > 0 {
		return nil
	}
	return usage.Errorf("%s has an unfinished run: finish it with train --resume", f.url)
}

// PointNumber returns the number in the name of the file of a tree of the frontier.
func PointNumber(file string) (int, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(file, frontierFolder+"/"), ".json")
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || FrontierTree(n) != file {
		return 0, usage.Errorf("%s lists the tree %q, which no run writes", FrontierName, file)
	}
	return n, nil
}

// ReadManifest reads the manifest.json of a training run. Its Config is as it was written, a
// json.RawMessage.
func ReadManifest(ctx context.Context, s *objectstore.Store, folder string) (*Manifest, error) {
	url := objectstore.Join(folder, ManifestName)
	b, err := s.ReadAll(ctx, url, MaxModel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.Errorf("%s has no %s: name the folder of a finished run", folder, ManifestName)
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return decodeManifest(url, b)
}

func decodeManifest(url string, b []byte) (*Manifest, error) {
	m := new(Manifest)
	var raw struct {
		Config json.RawMessage `json:"config"`
	}
	err := json.Unmarshal(b, m)
	if err == nil {
		err = json.Unmarshal(b, &raw)
	}
	if err != nil || m.Format != ManifestFormat {
		return nil, usage.Errorf("%s is not the manifest of a training run: name the folder of one", url)
	}
	m.Config = raw.Config
	return m, nil
}
