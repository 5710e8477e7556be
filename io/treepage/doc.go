// Package treepage writes a page of a tree: one HTML file without scripts and without
// references to anything else, which any browser opens offline.
//
// It is not meant for other programs.
package treepage
