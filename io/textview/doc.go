// Package textview renders trees, metrics and the documents of a run for people to read.
package textview
