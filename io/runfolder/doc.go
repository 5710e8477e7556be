// Package runfolder writes and reads the folders of runs: of training, of predictions, of
// made-up data. It is not meant for other programs, but for the types of the documents.
//
//	Documents  the list of all documents: names, kinds of folders, JSON Schemas, and how
//	           a document is written from a Run and read back
//	Acquire    the lock, _LOCK with signs of life: one run at a time is at work in a folder
//	Open       refuses files of others, and an earlier run's that are not to be replaced
//	Claim      writes the manifest before the work begins: it lists the files to come
//	Write      writes each file aside, checks that nobody else has written meanwhile, and
//	           gives the files their names; _SUCCESS comes last
//	Replace    replaces some documents of a finished run; Open finishes what was killed
//	Read       reads the documents back
package runfolder
