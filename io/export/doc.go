// Package export writes a tree as source code: one file in one language, without libraries. The
// file predicts what the tree predicts.
//
// A file has the questions as nested conditions, cut into functions that no compiler finds too
// deep or too long, and the leaves, the leaf models and the boosters as tables. The conditions of
// all languages are written by the same code; see Formats for the languages.
package export
