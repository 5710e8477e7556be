package engine

// flink is Apache Flink behind Beam's job service for it.
//
// That job service reports a batch job as cancelled without telling Flink, whose tasks continue, so
// the workers end by their lease. It returns the counters of a batch job only after the job has
// ended, so the workers write their counts next to the lease.
func flink() Engine { return portable{name: "flink", title: "Flink"} }
