package source

import (
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Manifest lists the files of the input as a manifest.json does.
func (in *Input) Manifest() []runfolder.Input {
	list := make([]runfolder.Input, len(in.Files))
	for i, f := range in.Files {
		list[i] = runfolder.Input{
			URL: f.URL, Size: f.Size, FooterDigest: f.FooterDigest, Rows: f.Rows, RowGroups: f.RowGroups(),
		}
	}
	return list
}
