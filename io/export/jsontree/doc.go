// Package jsontree writes a tree as a JSON document for people who write an interpreter of their
// own: each node has its question and the numbers of the next
// nodes. Schema describes the document;
// Interpreter is one in Python, of a few lines.
//
// tree.json holds more, and leaves more to the reader: codes of values, costs along paths.
package jsontree
