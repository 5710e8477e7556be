package runfolder

import "slices"

// Kind identifies the verb that has written a folder.
type Kind int

// The kinds of folders.
const (
	Training    Kind = iota // train: a tree, with what was measured and chosen
	Predictions             // predict: Parquet files of predictions
	Imported                // import: a data set converted from CSV files
)

// kinds lists the kinds of folders.
func kinds() []Kind { return []Kind{Training, Predictions, Imported} }

// terms are the words for a kind.
type terms struct {
	format     string // the format that its manifest.json names
	whole      string // the folder's content in a message
	finished   string // the content of a folder with _SUCCESS
	unfinished string // the content of a folder without it
	remedy     string // what a user can do about unfinished content
}

func (k Kind) terms() terms {
	switch k {
	case Training:
		return terms{
			ManifestFormat, "a run", "a finished run", "an unfinished run",
			"go on with --resume, or replace it with --overwrite",
		}
	case Predictions:
		return terms{
			PredictionsFormat, "predictions", "finished predictions", "unfinished predictions",
			"replace them with --overwrite",
		}
	default:
		return terms{
			ImportFormat, "a data set made of CSV files", "a finished import", "an unfinished import",
			"replace it with --overwrite",
		}
	}
}

// manifest returns the name of the document that lists the files of a folder.
func (k Kind) manifest() string {
	if k == Training {
		return ManifestName
	}
	return DataManifestName
}

// Documents lists the documents of a folder of the kind, in the order in which
// manifest.json lists them.
func (k Kind) Documents() []Document {
	return slices.DeleteFunc(Documents(), func(d Document) bool { return !slices.Contains(d.Kinds, k) })
}

// Reserves reports whether Espalier itself uses this name for a file next to the rows.
func (k Kind) Reserves(name string) bool {
	return slices.Contains(k.ownNames(), name) || name == LockName
}

// ownNames lists the files whose names are known before a run, including the mark of success.
func (k Kind) ownNames() []string {
	var names []string
	for _, d := range k.Documents() {
		if d.many == nil {
			names = append(names, d.Name)
		}
	}
	return append(names, SuccessName)
}

// patterns lists the documents of many files whose names match a pattern.
func (k Kind) patterns() []Document {
	return slices.DeleteFunc(k.Documents(), func(d Document) bool { return d.pattern == "" })
}
