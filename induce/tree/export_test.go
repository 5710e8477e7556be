package tree

// The JSON forms of documents, for the test that generates their schemas.
type (
	FileFeature  = fileFeature
	FileNode     = fileNode
	FileTest     = fileTest
	FileRunnerUp = fileRunnerUp
	FileBranches = fileBranches
	FileBranch   = fileBranch
	FileWhen     = fileWhen
	FileModel    = fileModel
	FileTerms    = fileTerms
	FileTerm     = fileTerm
	FileSplit    = fileSplit
	FileSchema   = fileSchema
	FileColumn   = fileColumn
)

// LowerBounds returns for each node a lower bound on the probability that a new row at the node is of its
// most probable class: see Standing.AtLeast.
func (t *Tree) LowerBounds() []float64 { return t.sureness().all() }
