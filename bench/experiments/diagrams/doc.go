// Package diagrams draws comparisons of methods: curves on axes, and diagrams of critical differences of
// mean ranks.
package diagrams
