// Package modelcard writes a model card of a training run: a page in Markdown with the usual
// headings. Facts come from the documents of the run; what only people can contribute comes from
// their notes, or is left to be filled in. It is not meant for other programs.
package modelcard
