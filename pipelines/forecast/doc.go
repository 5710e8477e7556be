// Package forecast foresees what a run takes, in bytes, passes, memory and seconds, from a
// rehearsal on a sample of its rows. It runs no job. It is not
// meant for other programs.
//
//	Run      the run that is foreseen: its rows, its settings, where it runs
//	Sample   what the rehearsal has come to
//	Outlook  the sample carried forward to all rows
package forecast
