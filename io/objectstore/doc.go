// Package objectstore reads and writes objects by URL: plain paths, file://
// and mem:// URLs, and those of any further driver that is registered.
//
// # Contract
//
//   - An object is a whole sequence of bytes under a name. It is replaced, never
//     changed in place, and each content has a generation of its own.
//   - Reads are ranged. An open Reader sees one generation.
//   - Nothing of a Writer is visible until Commit returned nil. A writer may be
//     bound to the absence or to a generation of its object; of two such
//     writers at most one wins.
//   - Errors name the URL and wrap fs.ErrNotExist, fs.ErrExist (a precondition
//     failed), fs.ErrPermission or ErrChanged where one of these is the cause.
//
// # URLs
//
// What follows scheme:// is a path as it is, without percent-encoding, so
// that plain paths and URLs spell the same name alike. A file:// URL has three
// slashes. A plain path that looks like a URL with slashes missing, such as
// gs:/bucket/x, is refused; ./gs:/bucket/x is a path.
package objectstore
