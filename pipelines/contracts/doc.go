// Package contracts infers data contracts from rows, and checks rows against them. It is not meant
// for other programs.
package contracts
