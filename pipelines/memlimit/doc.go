// Package memlimit determines the memory that a process may use, what fits into it, and the memory
// that the process has used. It is not meant for other programs.
package memlimit
