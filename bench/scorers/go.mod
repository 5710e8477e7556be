module github.com/espalier-ml/espalier/bench/scorers

go 1.26.0

require (
	github.com/dmitryikh/leaves v0.0.0-20230708180554-25d19a787328 // has no release
	github.com/espalier-ml/espalier v0.0.0
)

replace github.com/espalier-ml/espalier => ../..
