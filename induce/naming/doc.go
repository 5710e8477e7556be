// Package naming has the rules for names that other people choose: names in documents, of which some may
// lead outside a folder, names in messages, which may have characters that a terminal obeys, and mistyped
// names. It is not meant for other programs.
package naming
