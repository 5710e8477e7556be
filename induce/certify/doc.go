// Package certify bounds from below what any tree costs that separates the
// same objects, and so says how good a tree is.
package certify
