// Package runfolder holds the folders that runs write: their documents by name, their
// manifests, the lock, and the commit that makes all files of a run visible together. It is
// not meant for other programs, but for the types of the documents.
//
//	lock    _LOCK, with signs of life: one run at a time is at work in a folder
//	claim   manifest.json before the work begins: it lists the files to come
//	commit  each document is written aside and bound to the file that the run saw when
//	        it began; _SUCCESS comes last
//
// Kinds lists the kinds of folders: of training, of predictions, of made-up data.
package runfolder
