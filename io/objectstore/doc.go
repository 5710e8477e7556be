// Package objectstore reads and writes objects by URL: plain paths, file:// and mem://
// URLs, and the URLs of registered drivers.
//
// # Contract
//
//   - An object is a whole sequence of bytes under a name. It is replaced, never
//     changed in place, and each content has a generation of its own.
//   - Reads are ranged. An open Reader sees one generation.
//   - Nothing of a Writer is visible until Commit returned nil. A writer may be
//     bound to the absence or to a generation of its object; of two such
//     writers at most one wins.
//   - Errors name the URL, and wrap their cause if it is fs.ErrNotExist, fs.ErrExist (a
//     precondition failed), fs.ErrPermission or ErrChanged.
//
// # URLs
//
// The path after scheme:// has no percent-encoding, so a name is spelled the same in plain paths
// and URLs. A file:// URL has three slashes. A plain path that looks like a URL with missing
// slashes, such as gs:/bucket/x, is refused; ./gs:/bucket/x is a path.
package objectstore
