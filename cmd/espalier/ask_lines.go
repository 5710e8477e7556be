package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
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
	say(l.notes, "question %d: %s, for %s (%s)\n  %s\n", p.number, printable(p.Feature), money(p.Cost, p.Unit), p.wanted(), p.soFar())
	var got line
	select {
	case <-ctx.Done():
		return answer{}, context.Canceled
	case got = <-l.lines:
	}
	l.read++
	fault := &dataset.DataError{File: fmt.Sprintf("standard input, line %d", l.read), Column: p.Feature}
	switch {
	case errors.Is(got.err, io.EOF):
		fault.Problem, fault.Hint = "there is no such line, and the tree needs the value: want "+p.wanted(), "an empty line says that it is unknown"
		return answer{}, fault
	case got.err != nil:
		fault.Problem = fmt.Sprintf("cannot be read: %v", got.err)
		return answer{}, fault
	}
	a, problem := parseAnswer(p.Kind, p.Values, got.text)
	if problem != "" {
		fault.Problem = problem
		return answer{}, fault
	}
	if p.unlisted(a) {
		say(l.notes, "  %s is none of the values that %s is known to have: it counts as another value\n", a.value, printable(p.Feature))
	}
	return a, nil
}

// unlisted reports whether an answer is a category that the tree does not know.
func (p *prompt) unlisted(a answer) bool {
	if p.Kind != dataset.Categorical || a.value.Missing() {
		return false
	}
	text, _ := a.shown.(string)
	x, err := strconv.ParseFloat(text, 64)
	return !slices.ContainsFunc(p.Values, func(v string) bool {
		y, bad := strconv.ParseFloat(v, 64)
		return v == text || err == nil && bad == nil && x == y
	})
}

// maxListed bounds the values that a line lists.
const maxListed = 12

// wanted says what can be answered.
func (p *prompt) wanted() string {
	if p.Kind == dataset.Numeric {
		return "a number, or an empty line"
	}
	var values []string
	for _, v := range p.Values[:min(maxListed, len(p.Values))] {
		if strings.TrimSpace(v) == "" || v[0] == '"' {
			v = strconv.Quote(v)
		}
		values = append(values, printable(v))
	}
	if more := len(p.Values) - len(values); more > 0 {
		values = append(values, fmt.Sprintf("%d more", more))
	}
	return strings.Join(values, ", ") + ", another value, or an empty line"
}
