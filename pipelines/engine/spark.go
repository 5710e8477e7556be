package engine

// spark is Apache Spark behind Beam's job service for it.
func spark() Engine { return portable{name: "spark", title: "Spark"} }
