// Package memory grows whole trees over objects that are held in memory.
package memory
