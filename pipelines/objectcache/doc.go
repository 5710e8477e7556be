// Package objectcache caches the objects of input files for later runs with the same cuts.
//
// A window of days that moves on by a day then reads the rows of the new day alone.
package objectcache
