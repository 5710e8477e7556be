// Package kept has what runs keep for later runs: the cuts of features, and the objects of input
// files under these cuts.
//
// A window of days that moves on by a day then reads the rows of the new day alone.
package kept
