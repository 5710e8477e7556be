// Package pipelines joins transforms and io into Espalier's jobs: training and
// evaluation. It takes Config values and returns results; flags and terminals
// are cmd's.
//
// # How a tree is trained
//
//	summarise  row groups -> summaries -> cuts and values of each feature
//	coalesce   row groups -> codes -> objects, in blocks, by part of the split
//	induce     objects -> tree: grown whole by one worker where they fit
//	           --memory_objects, else level by level, a job a level
//	evaluate   objects of the validation and test parts -> metrics
//	write      the run folder, _SUCCESS last
//
// The first four are Beam pipelines on the chosen runner. The driver process
// runs them one after the other and keeps the tree and statistics, never objects;
// it also writes the run folder, as only it can reach the folder of the machine
// that it was started on.
//
// # What makes a run safe
//
//	lock       _LOCK in the run folder, with signs of life: one run at a time
//	checkpoint checkpoints/state.json after coalescing and after each job of the
//	           induction: a run that was killed goes on with Resume
//	lease      a file that an engine's workers look at: they end with the driver
//	folder     documents are written aside and committed together, each bound to
//	           what was there when the run began
package pipelines
