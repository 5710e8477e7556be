// Package forecast predicts the bytes, passes, memory and seconds of a run, from a rehearsal on a
// sample of its rows. It runs no job. It is not meant for other programs.
//
//	Run      the predicted run: its rows, its settings, where it runs
//	Sample   the results of the rehearsal
//	Outlook  the sample carried forward to all rows
package forecast
