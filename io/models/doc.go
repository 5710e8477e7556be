// Package models opens trees by their URL, for programs that score rows, and keeps up with
// models that are replaced while the programs run.
//
// Plain paths, file:// and mem:// URLs need nothing else. For gs:// and s3:// a program imports the package of the driver,
// such as io/objectstore/gcsstore, for its side effects.
package models
