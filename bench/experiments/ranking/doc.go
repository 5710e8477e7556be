// Package ranking compares methods over data sets: means, deviations and ranks of their figures.
package ranking
