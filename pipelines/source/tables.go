package source

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// tableFormat is a format of tables whose folders contain data files of several versions. A log in
// the folder of the table lists which of them are live.
type tableFormat struct {
	name   string
	folder string // folder of the log
	file   string // part of the name of a file of the log
	live   string // describes where the live files are listed
}

// tableFormats returns the formats whose logs are known.
func tableFormats() []*tableFormat {
	return []*tableFormat{
		{"a Delta table", "_delta_log", "", "DeltaTable(folder).file_uris() of the Python package deltalake lists them"},
		{"a Hudi table", ".hoodie", "", "the newest file of each file group"},
		{"an Iceberg table", "metadata", ".metadata.json", "SELECT file_path FROM table.files lists them in Spark"},
		{"the sink of a Spark stream", "_spark_metadata", "", "its log lists them"},
	}
}

// tableFinder refuses files of tables, because reading all of them would bring back rows that were
// replaced or deleted.
type tableFinder struct {
	store *objectstore.Store
	live  bool                    // whether files that are named one by one are live, as the user claims
	whole []string                // folders whose objects are all known
	found map[string]*tableFormat // by URL of a folder; nil if it is not a table
}

// see records the objects of a folder that is listed as a whole.
func (t *tableFinder) see(whole string, objects []objectstore.Object) {
	t.whole = append(t.whole, whole)
	for _, o := range objects {
		for _, format := range tableFormats() {
			folder, file, ok := strings.Cut(o.URL, "/"+format.folder+"/")
			if ok && strings.Contains(file, format.file) && !strings.Contains(file, "/") {
				t.found[folder] = format
			}
		}
	}
}

// check returns an error if a file is part of a table. named means that the user has named the
// file.
func (t *tableFinder) check(ctx context.Context, url string, named bool) error {
	if named && t.live {
		return nil
	}
	folders, err := t.store.Above(url)
	if err != nil {
		return err
	}
	t.look(ctx, folders)
	for _, folder := range folders {
		if format := t.found[folder]; format != nil {
			return fmt.Errorf("%s is %s (it has %s): its files may hold rows that were replaced or deleted; name its "+
				"live files one by one and set --live_files (%s), or write its rows to a folder of their own",
				folder, format.name, format.folder, format.live)
		}
	}
	return nil
}

// look looks for logs in folders that it has not searched yet.
func (t *tableFinder) look(ctx context.Context, folders []string) {
	unknown := slices.DeleteFunc(slices.Clone(folders), func(folder string) bool {
		_, known := t.found[folder]
		return known || t.listed(folder)
	})
	var mu sync.Mutex
	var wg parallel.Group
	for _, folder := range unknown {
		wg.Go(func() {
			format := t.tableIn(ctx, folder)
			mu.Lock()
			defer mu.Unlock()
			t.found[folder] = format
		})
	}
	wg.Wait()
}

// tableIn returns the format of the table in a folder, or nil. A folder that may not be listed
// counts as not containing a table.
func (t *tableFinder) tableIn(ctx context.Context, folder string) *tableFormat {
	names, known, err := t.store.Folders(ctx, folder)
	if err != nil {
		return nil
	}
	for _, format := range tableFormats() {
		if known && !slices.Contains(names, format.folder) {
			continue
		}
		log, err := t.store.Below(ctx, objectstore.Join(folder, format.folder), 1)
		isLog := func(o objectstore.Object) bool { return strings.Contains(o.URL, format.file) }
		if err == nil && slices.ContainsFunc(log, isLog) {
			return format
		}
	}
	return nil
}

// listed reports whether a folder is below a folder that was listed as a whole.
func (t *tableFinder) listed(folder string) bool {
	return slices.ContainsFunc(t.whole, func(whole string) bool {
		return folder == whole || whole != "" && strings.HasPrefix(folder, whole+"/")
	})
}
