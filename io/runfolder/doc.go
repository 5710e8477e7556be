// Package runfolder writes and reads the folders of runs: training, predictions, imported data. It
// is not meant for other programs, except for the types of the documents.
//
//	Documents  the list of all documents: names, kinds of folders, JSON Schemas, and how
//	           a document is written from a Run and read back
//	Acquire    the lock, _LOCK with signs of life: one run at a time is active in a folder
//	Open       refuses files of other origin, and an earlier run's that must not be replaced
//	Claim      writes the manifest before the work begins: it lists the files to come
//	Write      writes each file aside, checks that nobody else has written meanwhile, and
//	           gives the files their names; _SUCCESS comes last
//	Replace    replaces some documents of a finished run; Open finishes a killed replacement
//	Read       reads the documents back
package runfolder
