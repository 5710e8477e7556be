# The README's two commands and the checks; everything here is plain go.
.PHONY: example test lint bench ci matrix pruning budgets peers predict speed scorers

example:
	go run ./cmd/espalier train --config cmd/espalier/example/tic-tac-toe.yaml

test:
	go test ./...

lint:
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

bench:
	go test -run '^$$' -bench . ./induce/... ./io/... ./transforms

ci:
	bash .ci/run

matrix:
	.ci/matrix

pruning:
	.ci/pruning

budgets:
	.ci/budgets

peers:
	.ci/peers

predict:
	.ci/predict

speed:
	.ci/speed

scorers:
	.ci/scorers
