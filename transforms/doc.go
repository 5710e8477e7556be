// Package transforms trains trees and scores rows inside other people's pipelines.
//
// Score, Train and WindowedTree work on rows of the caller's own types, bounded or
// not, without a driver, files or side inputs. Equal rows are counted in each bundle
// (dataset.Tally): what is grouped is small, and merges to the same bytes in any order.
//
// The jobs of Espalier's own command are in package transforms/jobs.
package transforms
