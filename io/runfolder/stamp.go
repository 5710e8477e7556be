package runfolder

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// Stamp names, in a file that a tree has made, the tree, its run, and the program that wrote the file.
type Stamp struct {
	Digest   string // digest of tree.json
	Run      string // name of the run's folder; empty if unknown
	Espalier string // version of the program
}

// StampOf returns the stamp of files that this program makes with a tree, given the URL of its tree.json.
func StampOf(t *tree.Tree, url string) Stamp {
	if !strings.Contains(url, "://") {
		if absolute, err := filepath.Abs(url); err == nil {
			url = filepath.ToSlash(absolute)
		}
	}
	return Stamp{tree.Digest(t.Encode()), path.Base(FolderOf(url)), Version()}
}

// FolderOf returns the run folder of a tree, given the URL of its file: tree.json, or a tree of the frontier.
func FolderOf(url string) string {
	folder := objectstore.Join(url, "..")
	if path.Base(folder) == frontierFolder {
		return objectstore.Join(folder, "..")
	}
	return folder
}

// The keys of a stamp in the footer of a Parquet file.
const (
	digestKey   = "espalier.tree_sha256"
	runKey      = "espalier.run"
	espalierKey = "espalier.version"
)

// Metadata returns the stamp for the footer of a Parquet file.
func (s Stamp) Metadata() map[string]string {
	return map[string]string{digestKey: s.Digest, runKey: s.Run, espalierKey: s.Espalier}
}

// StampFrom returns the stamp of a footer, given the value of a key. Its fields are empty if the footer has none.
func StampFrom(value func(key string) string) Stamp {
	return Stamp{value(digestKey), value(runKey), value(espalierKey)}
}
