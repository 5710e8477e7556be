// Package jobs contains the Beam jobs of Espalier's command: thin DoFns around the algorithms of
// package induce. It is not meant for other programs.
//
// Every job has the same shape, and all jobs together have three DoFn signatures:
//
//	tasks  -> ParDo(read and aggregate: KV<int64, []byte>)
//	       -> GroupByKey
//	       -> ParDo(merge and write)
//
// A task names a row group or an object block, and takes about 100 bytes. A worker sends one
// aggregate per key, and never a row. The results are scratch files, which the driver reads. There
// are no side inputs: DoFns have features as encoded bytes in exported fields, and read the growing
// trees from scratch files. An aggregate that is too large for the shuffle of a runner also goes
// through a scratch file.
//
// A DoFn aggregates all tasks of its bundle and emits when the bundle ends, but for Check, which emits
// after each row group. On the local runners, which run one bundle at a time, several goroutines work
// on its tasks.
//
// All first halves are a taskFn, and all second halves a mergeFn: these enter the run, report
// progress and wait for goroutines. Jobs that score rows share a first half, scan, which reads
// row groups and sums up counts, and differ in their visitor. A combiner adds up their counts.
//
// A DoFn finds the Files of its run by the run's name. In a process that did not begin the run
// it opens them with the same settings.
package jobs
