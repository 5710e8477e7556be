package export_test

import (
	"os"
	"testing"
)

// TestMain makes Java compilers and programs, which end within seconds, leave out what only pays in long runs.
func TestMain(m *testing.M) {
	if err := os.Setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"); err != nil {
		panic(err)
	}
	m.Run()
}
