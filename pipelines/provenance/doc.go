// Package provenance finds which tree made a file, which rows and settings made the tree, and when it
// was in use. It is not meant for other programs.
//
// A file names the tree by the digest of its tree.json: predictions in the footer and in _manifest.json,
// reports, model cards and exports in their text. The rows and settings are in the run folder. If
// --keep_runs has removed the folder, they are in the register of the destination of retrain.
package provenance
