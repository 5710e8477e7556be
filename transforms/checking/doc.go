// Package checking contains the job that checks rows against bounds of their columns, as given in a
// data contract. It is not meant for other programs: package pipelines reads contracts.
package checking
