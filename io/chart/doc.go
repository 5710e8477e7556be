// Package chart draws the pictures of a run from its documents: its frontier, ROC curves,
// calibration, and what the features bring; and for comparisons of methods curves and diagrams of
// critical differences. A Picture is described once, and written as SVG. Equal documents give equal
// bytes.
//
// The colours are those of Okabe and Ito, which readers who see few colours tell apart.
// Marks and dashes differ, too, for prints without colours. Names may have any characters.
// They are shortened, and characters that steer a text are written as escapes.
//
// Lengths are points, one unit of the SVG's viewBox. Gonum counts heights from the bottom,
// SVG from the top.
//
// It is not meant for other programs.
package chart
