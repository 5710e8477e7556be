package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPanicIsTold: an attempt that panics is a failure with exit code 1, and the panic goes on.
func TestPanicIsTold(t *testing.T) {
	notices, outcomes := filepath.Join(t.TempDir(), "notices.jsonl"), []string{}
	c := newPredict()
	c.SetContext(t.Context())
	if err := c.Flags().Set("notices", notices); err != nil {
		t.Fatal(err)
	}
	figures := func(func(string) string) figuresOf {
		return func(_ context.Context, _, outcome string, _ time.Time) error {
			outcomes = append(outcomes, outcome)
			return nil
		}
	}
	defer func() {
		b, err := os.ReadFile(notices)
		if r := recover(); r != "broken" || err != nil || !strings.Contains(string(b), `"exit_code":1`) ||
			strings.Join(outcomes, ",") != "running,failed" {
			t.Errorf("panic %v, outcomes %v, notices %s, %v", r, outcomes, b, err)
		}
	}()
	_ = scheduled(c, "", "", figures, func(*attempt) error { panic("broken") })
}
