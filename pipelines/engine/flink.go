package engine

// flink is Apache Flink behind Beam's job service for it.
//
// That job service calls a batch job cancelled without telling Flink, whose tasks go on:
// the workers end by their lease. It gives the counters of a batch job only when the job
// has ended: the workers leave their counts beside the lease.
func flink() Engine { return portable{name: "flink", title: "Flink"} }
