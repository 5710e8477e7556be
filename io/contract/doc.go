// Package contract has data contracts: YAML documents of the types, roles and bounds of columns.
// People edit them; training and scoring check rows against them.
package contract
