package main_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what the test looks at of a Kubernetes object.
type manifest struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Selector yaml.Node `yaml:"selector"` // of a service: labels; of a deployment: matchLabels
		Ports    []struct {
			Port int `yaml:"port"`
		} `yaml:"ports"`
		Template struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec struct {
				ServiceAccountName string `yaml:"serviceAccountName"`
				Containers         []struct {
					Ports []struct {
						ContainerPort int `yaml:"containerPort"`
					} `yaml:"ports"`
				} `yaml:"containers"`
			} `yaml:"spec"`
		} `yaml:"template"`
		JobTemplate struct { // of a cron job
			Spec struct {
				Template struct {
					Spec struct {
						ServiceAccountName string `yaml:"serviceAccountName"`
					} `yaml:"spec"`
				} `yaml:"template"`
			} `yaml:"spec"`
		} `yaml:"jobTemplate"`
	} `yaml:"spec"`
}

// TestManifests: the Kubernetes manifests are YAML, each service has pods with
// its labels and ports, each deployment selects its own pods, and accounts exist.
// bench/check_deploy.py holds them against the schemas of Kubernetes.
func TestManifests(t *testing.T) {
	objects := make(map[string][]manifest)
	names, err := filepath.Glob(filepath.Join("deploy", "kubernetes", "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no manifests (%v)", err)
	}
	for _, name := range names {
		for d := yaml.NewDecoder(bytes.NewReader(read(t, name))); ; {
			var m manifest
			err := d.Decode(&m)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if m.Metadata.Name == "" {
				t.Errorf("%s: a %s without a name", name, m.Kind)
			}
			objects[m.Kind] = append(objects[m.Kind], m)
		}
	}
	accounts := make(map[string]bool)
	for _, m := range objects["ServiceAccount"] {
		accounts[m.Metadata.Name] = true
	}
	for _, m := range append(objects["Deployment"], objects["Job"]...) {
		if name := m.Spec.Template.Spec.ServiceAccountName; name != "" && !accounts[name] {
			t.Errorf("%s: no account %s", m.Metadata.Name, name)
		}
	}
	for _, m := range objects["CronJob"] {
		if name := m.Spec.JobTemplate.Spec.Template.Spec.ServiceAccountName; !accounts[name] {
			t.Errorf("%s: no account %s", m.Metadata.Name, name)
		}
	}
	for _, m := range objects["Deployment"] {
		var selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		if err := m.Spec.Selector.Decode(&selector); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(selector.MatchLabels, m.Spec.Template.Metadata.Labels) {
			t.Errorf("%s selects other pods than its own", m.Metadata.Name)
		}
	}
	for _, m := range objects["Service"] {
		var selector map[string]string
		if err := m.Spec.Selector.Decode(&selector); err != nil {
			t.Fatal(err)
		}
		open := make(map[int]bool)
		for _, d := range objects["Deployment"] {
			if maps.Equal(d.Spec.Template.Metadata.Labels, selector) {
				for _, p := range d.Spec.Template.Spec.Containers[0].Ports {
					open[p.ContainerPort] = true
				}
			}
		}
		for _, p := range m.Spec.Ports {
			if !open[p.Port] {
				t.Errorf("service %s: no pod listens on %d", m.Metadata.Name, p.Port)
			}
		}
	}
}
