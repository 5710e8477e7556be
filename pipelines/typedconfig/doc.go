// Package typedconfig makes the configuration of a training from values: numbers are numbers, costs are
// maps, and the zero value of a field is its default.
//
// The values are those of transforms.TrainConfig, so a program names the settings of trainings in
// its own pipelines and of trainings on files alike.
package typedconfig
