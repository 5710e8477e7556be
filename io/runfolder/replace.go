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

// replacementName is the file with the new documents of a run while they replace the old ones.
const replacementName = "_REPLACEMENT"

const replacementFormat = "espalier/replacement"

// replacement is what the file holds.
type replacement struct {
	Format string `json:"format"`
	Files  []File `json:"files"`
}

// Replace replaces the named documents of the folder's run by those in r, or adds them, and also
// adds the files in added. All other files of the run stay. The manifest of r, which lists all
// files, is also written. All new contents first go into a single file: if a replacement is killed
// after that, Open finishes it; if it is killed before, nothing has changed. _SUCCESS is removed
// while documents get their names, and comes last.
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
	return f.replace(ctx, files, true)
}

// ReplaceOne replaces a document that no other document depends on. The run stays finished.
func (f *Folder) ReplaceOne(ctx context.Context, name string, content []byte) error {
	_, err := objectstore.WriteSeen(ctx, f.store, f.File(name), content, f.condition(name))
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(name)
	}
	return OutputError(err)
}

// replace publishes files. All other files of the run stay. begins means that replacementName does
// not exist yet.
func (f *Folder) replace(ctx context.Context, files []File, begins bool) error {
	all, err := f.writeAside(ctx, append(slices.Clip(files), File{Name: SuccessName}))
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
	if begins {
		if err := f.begin(ctx, files); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b *pending) int { // publish takes the last one for the mark
		return strings.Compare(strconv.FormatBool(a.name == SuccessName), strconv.FormatBool(b.name == SuccessName))
	})
	if err := f.remove(ctx, SuccessName); err != nil {
		return err
	}
	failed, err := f.publish(all)
	if errors.Is(err, fs.ErrExist) {
		return f.overtaken(failed)
	}
	if err == nil {
		err = f.store.Remove(ctx, f.File(replacementName))
	}
	return OutputError(err)
}

// begin writes the file of a replacement.
func (f *Folder) begin(ctx context.Context, files []File) error {
	b, err := json.Marshal(&replacement{replacementFormat, files})
	if err == nil {
		err = f.ReplaceOne(ctx, replacementName, b)
	}
	return err
}

// finishReplacement completes a replacement that was killed.
func (f *Folder) finishReplacement(ctx context.Context) error {
	b, err := objectstore.ReadSeen(ctx, f.store, f.seen[replacementName], MaxModel)
	if err != nil {
		return OutputError(err)
	}
	var r replacement
	err = json.Unmarshal(b, &r)
	if err != nil || r.Format != replacementFormat || len(r.Files) == 0 || slices.ContainsFunc(r.Files, func(file File) bool {
		return f.kind.DocumentOf(file.Name) == nil
	}) {
		return usage.Errorf("--output %s: %s there is not Espalier's: remove it", f.url, replacementName)
	}
	return f.replace(ctx, r.Files, false)
}

// CanReplace refuses a folder without a finished run whose documents Replace may replace. A run
// with a promotion is one, though _SUCCESS may be missing: an earlier version was interrupted.
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
		return nil, Training.lacks(folder, ManifestName)
	}
	if err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return decodeManifest(url, b)
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
