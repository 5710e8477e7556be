// Package retraining trains a tree on a schedule: a run a day, a gate that compares it with the run in
// use, and LATEST.json, which names the run in use. It is not meant for other programs.
//
// An attempt has these phases, and a program that is killed in any of them leaves LATEST.json as it was:
//
//	lock      one attempt at a time works in the destination
//	input     templates of dates become files; they are listed, and must be fresh
//	train     a run folder whose name has the day and a digest of input and settings
//	gate      metrics, cost, flips and drift against the run in use
//	promote   LATEST.json moves, if it is still what it was when the attempt began
//	retain    old runs go
//
// Each attempt leaves a document of its history.
package retraining
