package transforms

import (
	"github.com/espalier-ml/espalier/induce/settings"
)

// TrainConfig says how a tree is grown from the rows of a PCollection. DefaultTrainConfig and
// ChosenTrainConfig return configurations with defaults; the zero value of a field means what it says.
// `espalier train --help` says more on each of the Settings.
//
// Rows of a PCollection have no order: shares in Split that set rows aside need a Key.
type TrainConfig struct {
	settings.Settings

	// Features lists the columns that the tree may test. Where two tests are equally
	// good, the feature that comes first wins. Empty: all fields of the struct except
	// Label, Weight and Ignore, in their order. It is required where rows are maps.
	Features []string

	// AllowEmpty lets Train go on without rows or values to learn from. By default the
	// pipeline fails if no row has both a label and a weight above 0. Where rows are
	// maps, it also fails if no row has a value of some feature, as the feature's name
	// is probably misspelled. With AllowEmpty the first case gives no tree, and the
	// second a tree without the feature. Both are logged, and counted as trees_missing
	// and features_missing. Windows may always be empty: see WindowedTree.
	AllowEmpty bool

	// Strict refuses rows that are maps without the key of a feature. By default they are missing
	// values.
	Strict bool

	// Shards is the number of shards that Train splits the rows into, by their hash. A
	// worker holds the distinct rows of one shard at a time: have one shard for every
	// 10 MiB of distinct rows. Default 64.
	Shards  int
	Workers int // goroutines that grow a tree; default 1
}

// DefaultTrainConfig returns the configuration of `espalier train --split 100/0/0
// --select first --certificate none`: ec45 with lambda 10 and
// theta 0.005, threshold tests on quantile bins (128, 512 from 30,000 rows on, and at least 16 for
// each class), smoothed leaves, no pruning.
func DefaultTrainConfig(label string) TrainConfig {
	c := TrainConfig{Settings: settings.Single(), Shards: defaultShards, Workers: 1}
	c.Label = label
	return c
}

// ChosenTrainConfig returns the configuration of `espalier train --key KEY`:
// a grid of trees from 70 % of the rows, pruned, of which the best on 10 % is chosen.
// The hash of the key decides on a row's part.
func ChosenTrainConfig(label, key string) TrainConfig {
	c := TrainConfig{Settings: settings.Default(), Shards: defaultShards, Workers: 1}
	c.Label, c.Key = label, key
	return c
}

const defaultShards = 64
