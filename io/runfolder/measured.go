package runfolder

// Measured is the work and memory that a run took.
type Measured struct {
	Rows         int64 `json:"rows" jsonschema:"minimum=0"`
	Objects      int64 `json:"objects" jsonschema:"minimum=0"`       // in all parts
	TrainObjects int64 `json:"objects_train" jsonschema:"minimum=0"` // in the training part
	RowPasses    int64 `json:"row_passes" jsonschema:"minimum=0"`    // passes over the input
	ObjectPasses int64 `json:"object_passes" jsonschema:"minimum=0"` // passes over the training objects
	ColumnBytes  int64 `json:"column_bytes" jsonschema:"minimum=0"`  // read from Parquet by all passes over rows
	BlockBytes   int64 `json:"block_bytes" jsonschema:"minimum=0"`   // bytes read from object blocks by all passes over objects
	// ShuffleBytes are bytes between the halves of jobs: summaries, objects, counts.
	ShuffleBytes int64 `json:"shuffle_bytes" jsonschema:"minimum=0"`
	// HistogramBytes are counts of the largest pass over objects by levels; 0 without such a pass.
	HistogramBytes int64 `json:"histogram_bytes" jsonschema:"minimum=0"`
	DiskBytes      int64 `json:"disk_bytes" jsonschema:"minimum=0"`    // object blocks and spilled objects below the run folder
	DriverMemory   int64 `json:"driver_memory" jsonschema:"minimum=0"` // peak of the process, in which the workers are
}
