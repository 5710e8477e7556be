// Package transforms holds the DoFns of Espalier's jobs: thin shells around the
// kernels of package induce.
//
// Every job has the same shape, so that three DoFn signatures do for all:
//
//	tasks  -> ParDo(read and aggregate: KV<int64, []byte>)
//	       -> GroupByKey
//	       -> ParDo(merge and write)
//
// A task is a row group or an object block, about 100 bytes; what leaves a
// worker is one aggregate per key, never a row. The results are written to
// scratch files that the driver reads. Features travel as encoded bytes in
// exported fields, and trees that are being grown in scratch files, never as side
// inputs. What would be too much for a runner's shuffle goes by way of files too.
//
// A DoFn aggregates all tasks of its bundle and emits when the bundle ends. On
// the local runners, which run one bundle at a time, its tasks are worked on
// by several goroutines.
//
// The package does not know files or Parquet: package pipelines sets the
// Storage that its DoFns use.
//
// # In other pipelines
//
// Score, Train and WindowedTree are for the pipelines of others: over rows of
// their own types, bounded or not, without a driver, files or side inputs. Equal
// rows are counted in each bundle (dataset.Tally), so that what is grouped is
// small, and merges to the same bytes in any order.
package transforms
