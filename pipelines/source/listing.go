package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// listed is an input file and the folder below which it was found.
type listed struct {
	objectstore.Object

	folder string
}

// listing is the files that patterns match, and the names of files that are left out.
type listing struct {
	files                         []listed
	others, empty, hidden, linked []string
}

// dataSuffix is the suffix of the files that a folder contributes.
const dataSuffix = ".parquet"

// listInput lists the files of all patterns, each once, sorted by URL. A folder contributes the
// Parquet files in it, at any depth. An empty file is left out, unless a pattern names it, because
// engines leave such files as marks. If a file is missing, all patterns together may be the name of
// a single file with commas. Files of a table with a log are refused.
func listInput(ctx context.Context, f *Files, patterns []string) (*listing, error) {
	l := new(listing)
	tables := &tableFinder{store: f.Store, live: f.liveFiles, found: make(map[string]*tableFormat)}
	for _, pattern := range patterns {
		err := l.add(ctx, f.Store, tables, pattern)
		if whole := strings.Join(patterns, ","); errors.Is(err, fs.ErrNotExist) && len(patterns) > 1 {
			_, missing := f.Store.Stat(ctx, whole)
			if missing == nil || errors.Is(missing, objectstore.ErrFolder) { // a single name with commas in it
				return listInput(ctx, f, []string{whole})
			}
		}
		if err != nil {
			return nil, usage.Errorf("--input: %v", err)
		}
	}
	slices.SortFunc(l.files, func(a, b listed) int {
		return cmp.Or(strings.Compare(a.URL, b.URL), cmp.Compare(len(a.folder), len(b.folder)))
	})
	l.files = slices.CompactFunc(l.files, func(a, b listed) bool { return a.URL == b.URL })
	return l, l.unlink(f.Store)
}

// add adds the files that a pattern matches.
func (l *listing) add(ctx context.Context, s *objectstore.Store, tables *tableFinder, pattern string) error {
	folder := objectstore.Folder(pattern)
	objects, seen, err := s.ListSeen(ctx, pattern)
	if seen != nil {
		tables.see(folder, seen)
	}
	if errors.Is(err, objectstore.ErrFolder) {
		folder = strings.TrimRight(pattern, "/")
		objects, err = l.listFolder(ctx, s, tables, folder)
	}
	if err != nil {
		return err
	}
	before := len(l.files)
	for _, o := range objects {
		if o.Size == 0 && o.URL != pattern {
			l.empty = append(l.empty, below(o.URL, folder))
			continue
		}
		l.files = append(l.files, listed{o, folder})
		if err := tables.check(ctx, o.URL, o.URL == pattern); err != nil {
			return err
		}
	}
	if len(l.files) == before {
		return fmt.Errorf("%s: all files that match are empty", pattern)
	}
	return nil
}

// listFolder lists the Parquet files in a folder, and records other files in it.
func (l *listing) listFolder(
	ctx context.Context, s *objectstore.Store, tables *tableFinder, folder string,
) (files []objectstore.Object, err error) {
	all, err := s.Below(ctx, folder, -1)
	if err != nil {
		return nil, err
	}
	var others, secret []string
	tables.see(folder, all)
	for _, o := range all {
		name := below(o.URL, folder)
		isData := strings.HasSuffix(name, dataSuffix)
		isHidden := slices.ContainsFunc(strings.Split(name, "/"), objectstore.Hidden)
		switch {
		case isData && !isHidden:
			files = append(files, o)
		case isData:
			secret = append(secret, name)
		case !isHidden:
			others = append(others, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s is a folder without a *%s file at any depth: "+
			"name files, or a pattern such as %s/**", folder, dataSuffix, folder)
	}
	l.others = append(l.others, others...)
	l.hidden = append(l.hidden, secret...)
	return files, nil
}

// below returns the name of an object below a folder.
func below(url, folder string) string {
	return strings.TrimLeft(strings.TrimPrefix(url, folder), "/")
}

// unlink leaves out files that are already listed by another name, such as links or other spellings
// of a path.
func (l *listing) unlink(s *objectstore.Store) error {
	first := make(map[string]string)
	var err error
	l.files = slices.DeleteFunc(l.files, func(f listed) bool {
		id, fault := s.Identity(f.URL)
		if fault != nil {
			err = fault
			return false
		}
		_, twice := first[id]
		if twice {
			l.linked = append(l.linked, fmt.Sprintf("%s is %s", below(f.URL, f.folder), first[id]))
		} else {
			first[id] = below(f.URL, f.folder)
		}
		return twice
	})
	return err
}

// notes returns a line on each kind of files that are left out.
func (l *listing) notes() (lines []string) {
	for _, n := range []struct {
		names     []string
		one, many string
	}{
		{l.others, "file with another name", "files with other names"},
		{l.empty, "file without content", "files without content"},
		{l.hidden, "file with a hidden name", "files with hidden names"},
		{l.linked, "file that is listed already", "files that are listed already"},
	} {
		if len(n.names) == 0 {
			continue
		}
		what := n.many
		if len(n.names) == 1 {
			what = n.one
		}
		const most = 4
		shown := strings.Join(n.names[:min(most, len(n.names))], ", ")
		if len(n.names) > most {
			shown += ", ..."
		}
		lines = append(lines, fmt.Sprintf("left out: %d %s (%s)", len(n.names), what, shown))
	}
	return lines
}

// List lists the files of patterns as OpenInput does, without reading them.
func List(ctx context.Context, f *Files, patterns []string) ([]objectstore.Object, error) {
	found, err := listInput(ctx, f, patterns)
	if err != nil {
		return nil, err
	}
	objects := make([]objectstore.Object, len(found.files))
	for i := range found.files {
		objects[i] = found.files[i].Object
	}
	return objects, nil
}
