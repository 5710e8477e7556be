// Package svg writes pictures as SVG documents, in one style for light and dark pages: lines, areas,
// marks, texts, and groups with tips. Drawings of trees, pictures of runs and diagrams are made of it.
//
// Lengths are units of the viewBox; x goes to the right and y down. Texts may have any characters:
// what XML cannot have becomes U+FFFD. Equal calls give equal bytes.
//
// It is not meant for other programs.
package svg
