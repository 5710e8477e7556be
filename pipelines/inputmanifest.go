package pipelines

import (
	"github.com/espalier-ml/espalier/io/runfolder"
)

func (in *input) manifest() []runfolder.Input {
	list := make([]runfolder.Input, len(in.files))
	for i, f := range in.files {
		list[i] = runfolder.Input{URL: f.URL, Size: f.Size, FooterDigest: f.FooterDigest, Rows: f.Rows, RowGroups: f.RowGroups()}
	}
	return list
}
