// Package engine runs the jobs of a run on one of the engines, and the phases between the
// jobs in this process. It is not meant for other programs.
//
//	Driver    runs jobs and phases one after the other, and shows their progress
//	Engine    where a job runs: the interface of all engines, each of which has a file
//	engines   the list of engines, in engines.go
//	portable  engines behind a Beam job service: what Flink and Spark share
//	running   admits one pipeline of this process at a time, and guards the SDK's flags
//	lease     a file that the workers of an engine look at: they end when the driver ends
//
// Adding an engine takes one file, with a type that implements Engine, and its place in the
// list. The values of --runner, the help and the checks come from the list.
package engine
