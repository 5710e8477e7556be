package transforms

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/settings"
)

// TrainConfig describes how a tree is grown from the rows of a PCollection. Start from
// SingleTrainConfig, or from DefaultTrainConfig if a tree is to be chosen, such as the best tree
// within a budget; the zero value is invalid. `espalier train --help` describes each of the
// Settings.
//
// Rows of a PCollection have no order: if Split sets rows aside, a Group or a SplitColumn is required.
type TrainConfig struct {
	settings.Settings

	// Features lists the columns that the tree may test. If two tests are equally good, the feature
	// that comes first wins. Empty: all fields of the struct except Label, Weight and Ignore, in
	// their order. It is required if rows are maps.
	Features []string

	// AllowEmpty lets Train succeed without rows or values to learn from. By default the pipeline
	// fails if no row has both a label and a weight above 0. If rows are maps, it also fails if a
	// feature has no value in any row, because its name is probably misspelled. With AllowEmpty the
	// first case gives no tree, and the second a tree without the feature. Both are logged, and
	// counted as trees_missing and features_missing. Windows may always be empty: see WindowedTree.
	AllowEmpty bool

	// Strict refuses rows that are maps without the key of a feature. By default such values are
	// missing.
	Strict bool

	// Shards is how many shards Train divides the rows into, by their hash. A worker holds the
	// distinct rows of one shard at a time: use a shard for every 10 MiB of distinct rows. Default
	// 64. On Flink, fewer than 16 shards let a slot have more rows: 8 shards about 750 MB; 16, 32
	// and 64 shards about 370 MB, and other numbers of shards less.
	Shards  int
	Workers int // goroutines that grow a tree; default 0: as many as the worker has processors
}

// SingleTrainConfig returns settings.Single, the settings of `espalier train --split 100/0/0
// --select first --certificate none`: ec45 with lambda 10 and theta 0.005, threshold tests on
// quantile bins (128, 512 from 30,000 rows on, and at least 16 for each class), smoothed leaves, no
// pruning.
func SingleTrainConfig(label string) TrainConfig {
	c := TrainConfig{Settings: settings.Single(), Shards: defaultShards}
	c.Label = label
	return c
}

// DefaultTrainConfig returns settings.Default, the settings of `espalier train --group KEY`: a grid of
// trees grown from 70 % of the rows and pruned, among which the best tree on 10 % of the rows is
// chosen. key is a column, such as an id; the hash of its value decides the part of a row. Without a key all rows grow the
// trees, five folds choose among them, and there are no test rows.
func DefaultTrainConfig(label, key string) TrainConfig {
	c := TrainConfig{Settings: settings.Default(), Shards: defaultShards}
	c.Label = label
	c.Group = key
	if key == "" {
		c.Split = dataset.Shares{100, 0, 0}
		c.Folds = crossvalidate.Setting{Number: crossvalidate.AutoFolds}
	}
	return c
}

const defaultShards = 64
