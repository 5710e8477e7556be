// Package jobs holds the jobs of Espalier's command: thin DoFns around the kernels of
// package induce. It is not meant for other programs.
//
// Every job has the same shape, and three DoFn signatures do for all jobs:
//
//	tasks  -> ParDo(read and aggregate: KV<int64, []byte>)
//	       -> GroupByKey
//	       -> ParDo(merge and write)
//
// A task names a row group or an object block, and takes about 100 bytes. A worker
// sends one aggregate per key, never a row. The results are scratch files, and the driver
// reads them. Features travel as encoded bytes in exported fields, and the trees
// under growth in scratch files, never as side inputs. An aggregate that is too large for a
// runner's shuffle travels in a scratch file, too.
//
// A DoFn aggregates all tasks of its bundle and emits when the bundle ends. On
// the local runners, which run one bundle at a time, several goroutines work on its
// tasks.
//
// The package does not know files or Parquet: package pipelines/source sets the
// Storage that the DoFns use.
package jobs
