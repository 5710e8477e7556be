package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const scheduleFolder = "deploy/schedule"

// TestScheduleFlags: the command lines of the files for schedulers have flags that retrain and predict know.
func TestScheduleFlags(t *testing.T) {
	help := espalier(t, "retrain", "--help_all").stdout + espalier(t, "predict", "--help_all").stdout
	files, err := filepath.Glob(filepath.Join(scheduleFolder, "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	commands := 0
	for _, file := range append(files, filepath.Join("deploy", "kubernetes", "retrain.yaml")) {
		text := string(read(t, file))
		if !strings.Contains(text, "/etc/espalier/nightly.yaml") && !strings.HasSuffix(file, ".timer") {
			t.Errorf("%s runs no retrain of nightly.yaml", file)
		}
		text = regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(text, "") // with command lines of others
		for _, flag := range regexp.MustCompile(`--[a-z_]+`).FindAllString(text, -1) {
			if commands++; !strings.Contains(help, flag+" ") {
				t.Errorf("%s: %s is a flag of neither retrain nor predict", file, flag)
			}
		}
	}
	if commands < 4 {
		t.Errorf("%d flags were found, want more: the files are not what they were", commands)
	}
}

// TestScheduleConfig: the settings of the ConfigMap are settings of retrain and predict.
func TestScheduleConfig(t *testing.T) {
	var m struct {
		Data map[string]string `yaml:"data"`
	}
	if err := yaml.Unmarshal(read(t, filepath.Join("deploy", "kubernetes", "retrain.yaml")), &m); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "nightly.yaml")
	if err := os.WriteFile(config, []byte(m.Data["nightly.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	espalier(t, "retrain", "--config", config, "--history", "--destination", t.TempDir()).wants(t, 0)
	rows := filepath.Join(t.TempDir(), "none.parquet")
	espalier(t, "predict", "--config", config, "--input", rows, "--model", rows, "--output", t.TempDir(), "--date", "2026-11-23").wants(t, 3, "no file with rows is there")
}

// maxExposure is the greatest exposure that systemd may find in the unit, in tenths of its points; systemd
// calls up to 2.9 "OK". The unit has 1.8, as it needs the network.
const maxExposure = "20"

// TestSystemd: systemd accepts the unit and its timer, and finds the unit well confined.
func TestSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("waits for systemd-analyze: apt-get install systemd")
	}
	folder := t.TempDir()
	var units []string
	for _, name := range []string{"espalier-retrain.service", "espalier-predict.service", "espalier-retrain.timer"} {
		unit := filepath.Join(folder, name)
		text := strings.ReplaceAll(string(read(t, filepath.Join(scheduleFolder, name))), "/usr/local/bin/espalier", binary)
		if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	out, err := exec.CommandContext(t.Context(), tool, append([]string{"verify", "--man=no"}, units...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, unit := range units[:2] {
		out, err = exec.CommandContext(t.Context(), tool, "security", "--offline=yes", "--no-pager", "--threshold="+maxExposure, unit).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
