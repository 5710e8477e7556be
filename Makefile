# The README's two commands and the checks; everything here is plain go.
.PHONY: example check test long lint bench ci matrix pruning budgets prices peers predict models importance total trust power truth unordered steadiness roc slices exports speed scorers python_scorers shapes cluster processors \
	auc_at_tests soft_labels monotone results bought categories dime release check_release

example:
	go run ./cmd/espalier train --config cmd/espalier/example/mushroom.yaml

linter = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# What a pull request runs, without root. make ci runs all checks.
check:
	$(linter) fmt --diff
	go vet ./...
	$(linter) run ./...
	go mod tidy -diff
	bench/processors.sh fused
	ESPALIER_TESTS=all go test -vet=off ./...

test:
	go test -vet=off ./...

long:
	go test -vet=off -tags long -timeout 60m ./...

lint:
	$(linter) run ./...

bench:
	go test -run '^$$' -bench . ./induce/... ./io/... ./transforms/...

ci:
	bash .ci/run

# The archives of the version that the git tag names, in dist.
release:
	bench/release.sh

check_release:
	bench/check_release.sh

matrix:
	bench/matrix.sh

pruning:
	bench/pruning.py

budgets:
	bench/budgets.py

prices:
	bench/prices.py

peers:
	bench/peers.py

predict:
	bench/predict.py

models:
	bench/check_models.py --sets all

importance:
	bench/check_importance.py

total:
	bench/check_total.py

trust:
	bench/trust.py

power:
	bench/power.py

truth:
	bench/truth.py

unordered:
	bench/unordered.py

steadiness:
	bench/steadiness.py

roc:
	bench/check_roc.py

slices:
	bench/check_slices.py

exports:
	bench/check_exports.py
	bench/check_sql.py

speed:
	bench/speed.py

scorers:
	bench/scorers.py

python_scorers:
	bench/python_scorers.py

shapes:
	bench/shapes.py

auc_at_tests:
	bench/auc_at_tests.py

monotone:
	bench/monotone.py

soft_labels:
	bench/soft_labels.py

cluster:
	bench/cluster.sh

processors:
	work=$$(mktemp -d) && bench/processors.sh build $$work && bench/processors.sh check $$work && rm -r $$work

results:
	bench/results.py

bought:
	bench/bought.py

categories:
	bench/categories.py

dime:
	bench/dime.py
