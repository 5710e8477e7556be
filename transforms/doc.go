// Package transforms trains trees and scores rows inside the pipelines of other programs.
//
// Score, Evaluate, Train and WindowedTree work on rows of the caller's own types, in bounded or
// unbounded collections, without a driver or files. Train and WindowedTree count equal rows within
// each bundle (dataset.Tally). The counts are small, and merging them in any order gives the same
// bytes.
//
// All four panic with an error if the pipeline cannot be built, as beam.ParDo does: the error names
// the setting or the column at fault. An unusable row makes the pipeline fail when it runs, unless
// the option DeadLetters returns such rows:
//
//	scored := transforms.Score(s, rows, model, transforms.DeadLetters{Limit: 1000})
//	beam.ParDo0(s, &write{}, scored.Predictions)
//	beam.ParDo0(s, &report{}, scored.DeadLetters)
//
// The jobs of Espalier's own command are in package transforms/jobs.
package transforms
