package worker

import (
	"context"
	"log/slog"
	"testing"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// sent is the SDK's log of a test.
type sent struct {
	severities []beamlog.Severity
	texts      []string
}

func (s *sent) Log(_ context.Context, severity beamlog.Severity, _ int, text string) {
	s.severities, s.texts = append(s.severities, severity), append(s.texts, text)
}

// TestWorkerLog: what a worker logs goes to the engine, with level and worker.
func TestWorkerLog(t *testing.T) {
	s := &sent{}
	beamlog.SetLogger(s)
	t.Cleanup(func() { beamlog.SetLogger(&beamlog.Structural{}) })
	log := slog.New(workerLog{}).With("worker", "7-1")
	log.Warn("slow", "bytes", 5)
	log.WithGroup("store").Error("lost", "url", "s3://b")
	log.Debug("not sent")
	want := []string{"msg=slow worker=7-1 bytes=5", "msg=lost worker=7-1 store.url=s3://b"}
	if len(s.texts) != 2 || s.texts[0] != want[0] || s.texts[1] != want[1] {
		t.Errorf("got %q, want %q", s.texts, want)
	}
	if s.severities[0] != beamlog.SevWarn || s.severities[1] != beamlog.SevError {
		t.Errorf("severities %v", s.severities)
	}
}
