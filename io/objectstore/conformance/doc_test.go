// Package conformance_test checks that all stores keep the contract of package objectstore, and that
// stores over HTTP survive faults. A driver joins by its row in stores_test.go.
package conformance_test
