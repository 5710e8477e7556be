// Package memlimit has the memory that a process may take, what fits into it, and what the process has taken. It
// is not meant for other programs.
package memlimit
