// Package pages makes what people look at from the documents of a run: pictures and pages. It
// reads run folders, and runs no job.
//
// It is not meant for other programs.
package pages
