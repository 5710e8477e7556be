// Command emulators serves emulators of object stores on the loopback interface, for
// tests: fake-gcs-server for Cloud Storage (gcs), gofakes3 for S3 (s3). It is not meant for other
// programs. It reads lines:
//
//	start gcs|s3 BUCKET...
//	end URL
//
// The answer to start is a line with the URL of a new emulator. The program ends when its
// input does, and so with the process of the tests. It is a module of its own to keep the
// emulators out of the module graph of those who use Espalier.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "emulators:", err)
		os.Exit(1)
	}
}

// serve starts and ends emulators according to the lines of the input.
func serve(input io.Reader, output io.Writer) error {
	running := make(map[string]*httptest.Server) // by URL
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) > 1 && words[0] == "start":
			server, err := start(words[1], words[2:])
			if err != nil {
				return err
			}
			running[server.URL] = server
			if _, err := fmt.Fprintln(output, server.URL); err != nil {
				return err
			}
		case len(words) == 2 && words[0] == "end" && running[words[1]] != nil:
			go end(running[words[1]])
			delete(running, words[1])
		default:
			return fmt.Errorf("cannot do %q: want start KIND BUCKET... or end URL", lines.Text())
		}
	}
	return lines.Err()
}

// start starts an emulator of a kind with the given buckets.
func start(kind string, buckets []string) (*httptest.Server, error) {
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	var handler http.Handler
	var err error
	switch kind {
	case "gcs":
		handler, err = newGCS(url, buckets)
	case "s3":
		handler, err = newS3(buckets)
	default:
		err = fmt.Errorf("no emulator %q: want gcs or s3", kind)
	}
	if err != nil {
		server.Close()
		return nil, err
	}
	server.Config.Handler = handler
	server.Start()
	return server, nil
}

// end cuts an emulator's connections and frees its objects. Requests may go on meanwhile.
func end(server *httptest.Server) {
	server.CloseClientConnections()
	server.Close()
}
