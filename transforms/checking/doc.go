// Package checking has the job that checks rows against bounds of their columns: what a data
// contract says. It is not meant for other programs: package pipelines reads contracts.
package checking
