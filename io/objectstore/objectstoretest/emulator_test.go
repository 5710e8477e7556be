package objectstoretest_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore/objectstoretest"
)

// TestEmulatorsEnd: emulators end with a test process that dies, and with their tests.
func TestEmulatorsEnd(t *testing.T) {
	if flag.Arg(0) == "die" {
		if _, err := os.Stdout.WriteString(objectstoretest.StartGCS(t, "bucket") + "\n"); err != nil {
			t.Fatal(err)
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		_ = self.Kill() // no cleanup is called
		select {}
	}
	dying := exec.Command(os.Args[0], "-test.run=^TestEmulatorsEnd$", "die")
	output, err := dying.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dying.Start(); err != nil {
		t.Fatal(err)
	}
	urls := make(map[string]string)
	if urls["of a process that died"], err = bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := dying.Wait(); err == nil {
		t.Fatal("the test process that starts emulators does not fail")
	}
	t.Run("test", func(t *testing.T) {
		urls["of GCS of a test that ended"] = objectstoretest.StartGCS(t, "bucket", "tekcub")
		urls["of S3 of a test that ended"] = objectstoretest.StartS3(t, "bucket", "tekcub")
	})
	for what, url := range urls {
		address, ok := strings.CutPrefix(strings.TrimSpace(url), "http://127.0.0.1:")
		if !ok {
			t.Fatalf("the emulator %s has the URL %q: want one of the loopback interface", what, url)
		}
		for { // until it has ended: a test without an end has a limit of its own
			c, err := net.Dial("tcp", "127.0.0.1:"+address)
			if err != nil {
				break
			}
			_ = c.Close() // only a look
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestSameVersions: the emulators' module has the versions of the main module, so that what
// both need is compiled once.
func TestSameVersions(t *testing.T) {
	versions := make(map[string]string)
	for _, folder := range []string{filepath.Join("..", "..", ".."), "emulators"} {
		out, err := exec.Command("go", "-C", folder, "mod", "edit", "-json").Output()
		if err != nil {
			t.Fatal(err)
		}
		var mod struct {
			Require []struct{ Path, Version string }
		}
		if err := json.Unmarshal(out, &mod); err != nil {
			t.Fatal(err)
		}
		both := 0
		for _, r := range mod.Require {
			switch other := versions[r.Path]; other {
			case r.Version:
				both++
			case "":
				versions[r.Path] = r.Version
			default:
				t.Errorf("%s is %s here, and %s in the emulators: set it by go -C io/objectstore/objectstoretest/emulators "+
					"get %s@%s", r.Path, other, r.Version, r.Path, other)
			}
		}
		if folder == "emulators" && both < 10 {
			t.Errorf("%d modules are required by both go.mod: want those of gRPC and others", both)
		}
	}
}
