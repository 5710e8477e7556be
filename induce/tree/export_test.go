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
