package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// head is the part that all kinds of manifests share.
type head struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Espalier string    `json:"espalier,omitempty"` // version of the program
	Started  time.Time `json:"started,omitzero"`
	Files    []string  `json:"files"` // all files of the run except the manifest and _SUCCESS
}

// readManifest determines which files an earlier run has written.
func (f *Folder) readManifest(ctx context.Context) error {
	name := f.kind.manifest()
	o, ok := f.seen[name]
	if !ok {
		name = ManifestName
		o, ok = f.seen[name]
	}
	if name != ManifestName {
		delete(f.seen, ManifestName) // this run does not write it
	}
	if !ok {
		return nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, MaxModel)
	if err != nil {
		return OutputError(err)
	}
	var head head
	if err := json.Unmarshal(b, &head); err != nil || head.Format != f.kind.terms().format {
		if name != f.kind.manifest() && !strings.HasPrefix(head.Format, formatPrefix) {
			delete(f.seen, name)
			return nil
		}
		return f.otherManifest(name, head.Format)
	}
	f.earlier, f.old, f.listed = true, name != f.kind.manifest(), make(map[string]bool)
	f.started = head.Started
	if head.Files == nil {
		if head.Files, err = f.unlistedFiles(ctx, b); err != nil {
			return OutputError(err)
		}
	}
	for _, name := range head.Files {
		if _, err := f.store.Within(f.url, name); err != nil {
			return usage.Errorf("--output: %s there lists a file that no run writes: %v; choose another folder",
				f.manifest(), err)
		}
		f.listed[name] = true
	}
	return nil
}

// Published returns the manifest of the finished predictions that the folder had when the run began; nil if
// absent, or if one of their files is gone.
func (f *Folder) Published(ctx context.Context) (*PredictionsManifest, error) {
	if !f.earlier || !f.Finished() {
		return nil, nil //nolint:nilnil // no predictions
	}
	for name := range f.listed {
		if _, there := f.seen[name]; there {
			continue
		}
		switch _, err := f.store.Stat(ctx, f.File(name)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil //nolint:nilnil // no complete predictions
		case err != nil:
			return nil, OutputError(err)
		}
	}
	b, err := objectstore.ReadSeen(ctx, f.store, f.seen[f.manifest()], MaxModel)
	if err != nil {
		return nil, OutputError(err)
	}
	m := new(PredictionsManifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, usage.Errorf("--output %s: %s: %v", f.url, f.manifest(), err)
	}
	return m, nil
}

// manifest returns the name of the manifest of the earlier run, or else of this run.
func (f *Folder) manifest() string {
	if f.old {
		return ManifestName
	}
	return f.kind.manifest()
}

// otherManifest returns an error for a manifest of another kind, or of another program.
func (f *Folder) otherManifest(name, format string) error {
	content := "is not Espalier's"
	for _, k := range kinds() {
		if k.terms().format == format {
			content = fmt.Sprintf("is of %s: the folder has something else than %s", k.terms().whole, f.kind.terms().whole)
		}
	}
	return usage.Errorf("--output %s: %s there %s, and is not overwritten: choose another folder",
		f.url, name, content)
}

// unlistedFiles returns the files of a run by a version whose manifests did not list all files.
func (f *Folder) unlistedFiles(ctx context.Context, manifest []byte) ([]string, error) {
	switch f.kind {
	case Training:
		return f.unlistedTraining(ctx)
	case Predictions: // the manifest listed the files of the rows
		var m PredictionsManifest
		if err := json.Unmarshal(manifest, &m); err != nil {
			return nil, err
		}
		return append(m.Outputs, MetricsName), nil
	default:
		return nil, nil
	}
}

// unlistedTraining returns the files of a training run, whose frontier.json names its trees.
func (f *Folder) unlistedTraining(ctx context.Context) ([]string, error) {
	names := slices.DeleteFunc(Training.ownNames(), func(name string) bool {
		return name == ManifestName || name == SuccessName
	})
	o, ok := f.seen[FrontierName]
	if !ok {
		return names, nil
	}
	b, err := objectstore.ReadSeen(ctx, f.store, o, MaxModel)
	if err != nil {
		return nil, err
	}
	var there Frontier
	if err := json.Unmarshal(b, &there); err == nil && there.Format == FrontierFormat {
		for i := range there.Points {
			names = append(names, there.Points[i].Tree)
		}
	}
	return names, nil
}

// refuseForeign returns an error if the folder has a file of another program, or of a user, with a
// name that this run would write.
func (f *Folder) refuseForeign() error {
	var foreign []string
	for name := range f.seen {
		if !f.owns(name) {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	slices.Sort(foreign)
	more := ""
	if n := len(foreign) - 1; n > 0 {
		more = " (and " + strings.Join(foreign[1:min(4, len(foreign))], ", ")
		if n > 3 {
			more += ", ..."
		}
		more += ")"
	}
	return usage.Errorf("--output %s: %s%s lies there, and no %s of %s there lists it as written by Espalier: "+
		"nothing is overwritten; choose another folder, or move it away", f.url, foreign[0], more, f.kind.manifest(),
		f.kind.terms().whole)
}

// owns reports whether an earlier run has written a file.
func (f *Folder) owns(name string) bool {
	return f.listed[name] || f.earlier && slices.Contains([]string{f.manifest(), SuccessName}, name)
}

// Reading is a file that a run reads.
type Reading struct {
	Flag string // the flag that names the file
	URL  string
}

// ProtectInputs returns an error if a file that the run reads would be replaced or removed. The
// error is a usage error.
func (f *Folder) ProtectInputs(reads []Reading) error {
	if !f.earlier {
		return nil
	}
	flags := make(map[string]Reading, len(reads))
	for _, r := range reads {
		if id, err := f.store.Identity(r.URL); err == nil { // otherwise it is not a file, as in --priors CLASS=P
			flags[id] = r
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(f.listed)), f.manifest(), SuccessName) {
		id, err := f.store.Identity(f.File(name))
		if err != nil {
			return OutputError(err)
		}
		if r, ok := flags[id]; ok {
			return usage.Errorf("--output %s: %s there is what --%s %s names, and would be replaced while it is read: "+
				"choose another folder", f.url, name, r.Flag, r.URL)
		}
	}
	return nil
}
