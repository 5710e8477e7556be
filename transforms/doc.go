// Package transforms trains trees and scores rows inside other people's pipelines.
//
// Score, Train and WindowedTree work on rows of the caller's own types, in bounded or
// unbounded collections, without a driver or files. Train and
// WindowedTree count equal rows within each bundle (dataset.Tally). The counts are
// small, and merging them gives the same bytes in any order.
//
// The jobs of Espalier's own command are in package transforms/jobs.
package transforms
