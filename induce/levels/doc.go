// Package levels grows a tree level by level from counts that are merged, as the
// objects of its upper nodes do not fit in memory.
package levels
