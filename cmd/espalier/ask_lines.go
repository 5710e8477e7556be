package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
)

// maxAnswer bounds the bytes of a line of answers.
const maxAnswer = 1 << 20

// lineAsker takes an answer from each line of a file, and writes the questions as
// plain lines.
type lineAsker struct {
	lines <-chan line
	notes io.Writer
	read  int // lines
}

// line is one of a file, or why there are no more.
type line struct {
	text string
	err  error
}

// readLines reads ahead, so that an interrupt need not wait for the next line.
func readLines(r io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxAnswer)
		for scanner.Scan() {
			lines <- line{text: scanner.Text()}
		}
		err := scanner.Err()
		if err == nil {
			err = io.EOF
		}
		lines <- line{err: err}
	}()
	return lines
}

// next returns the next line. The error is io.EOF after the last line.
func next(ctx context.Context, lines <-chan line) (string, error) {
	select {
	case <-ctx.Done():
		return "", context.Canceled
	case got := <-lines:
		return got.text, got.err
	}
}

func (l *lineAsker) ask(ctx context.Context, q *questionnaire) error {
	for p := q.next(); p != nil; p = q.next() {
		a, err := l.one(ctx, p)
		if err != nil {
			return err
		}
		if err := q.answer(p, a); err != nil {
			return err
		}
	}
	return nil
}

// one asks one question.
func (l *lineAsker) one(ctx context.Context, p *prompt) (answer, error) {
	say(l.notes, "question %d: %s, for %s (%s)\n  %s\n", p.number, printable(p.Feature), allMoney(p.Cost, p.Unit, &p.Further), p.wanted(),
		p.soFar())
	text, err := next(ctx, l.lines)
	if ctx.Err() != nil {
		return answer{}, err
	}
	l.read++
	fault := &dataset.DataError{File: fmt.Sprintf("standard input, line %d", l.read), Column: p.Feature}
	switch {
	case errors.Is(err, io.EOF):
		fault.Problem = "there is no such line, and the tree needs the value: want " + p.wanted()
		fault.Hint = "an empty line says that it is unknown"
		return answer{}, fault
	case err != nil:
		fault.Problem = fmt.Sprintf("cannot be read: %v", err)
		return answer{}, fault
	}
	a, problem := parseAnswer(p.Kind, p.Counts, p.Zone, p.Values, text)
	if problem != "" {
		fault.Problem = problem
		return answer{}, fault
	}
	return a, nil
}

// unlisted reports whether an answer is a category that the tree does not have.
func unlisted(values []string, a answer) bool {
	if a.value.Missing() {
		return false
	}
	text, _ := a.shown.(string)
	x, err := strconv.ParseFloat(text, 64)
	return !slices.ContainsFunc(values, func(v string) bool {
		y, bad := strconv.ParseFloat(v, 64)
		return v == text || err == nil && bad == nil && x == y
	})
}

// unlistedNote describes how an unlisted answer is handled, and proposes the nearest value.
func unlistedNote(feature string, values []string, a answer) string {
	return fmt.Sprintf("%s is none of the values that %s is known to have: it counts as another value%s", a.value,
		printable(feature), setting.Near(a.spelled(), values))
}

// maxListed is the most values that a line lists.
const maxListed = 12

// wanted describes the valid answers to a question.
func (p *prompt) wanted() string {
	if !p.categorical() {
		return wantedOf(p.Counts) + ", or an empty line"
	}
	return listed(p.Values) + ", another value, or an empty line"
}
