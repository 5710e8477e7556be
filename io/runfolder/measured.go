package runfolder

// Measured is the work and memory that a run took.
type Measured struct {
	Rows           int64 `json:"rows"`
	Objects        int64 `json:"objects"`         // in all parts
	TrainObjects   int64 `json:"objects_train"`   // in the training part
	RowPasses      int64 `json:"row_passes"`      // passes over the input
	ObjectPasses   int64 `json:"object_passes"`   // passes over the training objects
	ColumnBytes    int64 `json:"column_bytes"`    // read from Parquet by all passes over rows
	BlockBytes     int64 `json:"block_bytes"`     // read from object blocks by all passes over objects
	ShuffleBytes   int64 `json:"shuffle_bytes"`   // between the halves of jobs: summaries, objects, counts
	HistogramBytes int64 `json:"histogram_bytes"` // counts of the largest pass over objects by levels; 0 without such a pass
	DiskBytes      int64 `json:"disk_bytes"`      // object blocks and spilled objects below the run folder
	DriverMemory   int64 `json:"driver_memory"`   // peak
	WorkerMemory   int64 `json:"worker_memory"`   // peak of a worker; on local runners the driver's
}
