// Package report renders trees and metrics for people to read.
package report
