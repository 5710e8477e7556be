// Package naming has the rules for names that other people choose: names in documents, which may lead
// outside a folder, names in messages, which may have control characters, and mistyped names. It also has the
// names of enumerations. It is not meant for other programs.
package naming
