// Package engine runs the jobs of a run on one of the engines, and the phases between the
// jobs in this process. It is not meant for other programs.
//
//	driver   runs jobs and phases one after the other, and shows their progress
//	engine   where a job runs: direct and prism in this process, Flink and Spark by their
//	         job service, Dataflow
//	lease    a file that an engine's workers look at: they end with the driver
package engine
