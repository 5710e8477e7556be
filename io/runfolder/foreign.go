package runfolder

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/usage"
)

// refuseForeign refuses a folder with a file of another program, or of a user, under a name
// that this run would write.
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
	return usage.Errorf("--output %s: %s%s lies there, and no manifest.json of %s there lists it as written by Espalier: "+
		"nothing is overwritten; choose another folder, or move it away", f.url, foreign[0], more, f.kind.terms().whole)
}

// owns reports whether an earlier run has written a file.
func (f *Folder) owns(name string) bool {
	return f.listed[name] || f.earlier && (name == ManifestName || name == SuccessName)
}

// Reading is a file that a run reads.
type Reading struct {
	Flag string // the flag that names the file
	URL  string
}

// ProtectInputs refuses to replace or remove a file that the run reads. The error is a usage
// error.
func (f *Folder) ProtectInputs(reads []Reading) error {
	if !f.earlier {
		return nil
	}
	flags := make(map[string]Reading, len(reads))
	for _, r := range reads {
		if id, err := f.store.Identity(r.URL); err == nil { // else it is no file, as in --priors CLASS=P
			flags[id] = r
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(f.listed)), ManifestName, SuccessName) {
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
