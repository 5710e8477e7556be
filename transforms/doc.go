// Package transforms trains trees and scores rows inside the pipelines of other programs.
//
// Score, Evaluate, Train and WindowedTree work on rows of the caller's own types, in bounded or
// unbounded collections, without a driver or files. Train and WindowedTree count equal rows within
// each bundle (dataset.Tally). The counts are small, and merging them in any order gives the same
// bytes. A pipeline that trains a tree and scores rows with it:
//
//	config := transforms.SingleTrainConfig("outcome")
//	config.Costs = map[string]float64{"scan": 200}
//	trained := transforms.Train(s, labelled, config)
//	scored := transforms.Score(s, rows, transforms.Model{Trees: trained.Trees})
//
// All four panic with an error if the pipeline cannot be built, as beam.ParDo does: the error names
// the setting or the column at fault. Try returns this error. An unusable row makes the pipeline fail when it runs, unless
// the option DeadLetters returns such rows:
//
//	scored := transforms.Score(s, rows, model, transforms.DeadLetters{Limit: 1000})
//	beam.ParDo0(s, &write{}, scored.Predictions)  // ProcessElement(Patient, transforms.Prediction)
//	beam.ParDo0(s, &report{}, scored.DeadLetters) // ProcessElement(transforms.DeadLetter)
//
// The jobs of Espalier's own command are in package transforms/jobs.
package transforms
