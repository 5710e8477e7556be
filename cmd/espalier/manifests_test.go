package main_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// securityContext is the security context of a pod or of a container.
type securityContext struct {
	RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
	AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
	Capabilities             struct {
		Drop []string `yaml:"drop"`
	} `yaml:"capabilities"`
	SeccompProfile struct {
		Type string `yaml:"type"`
	} `yaml:"seccompProfile"`
}

type container struct {
	Name  string `yaml:"name"`
	Ports []struct {
		ContainerPort int `yaml:"containerPort"`
	} `yaml:"ports"`
	SecurityContext securityContext `yaml:"securityContext"`
}

// podTemplate describes the pods of a deployment or of a job.
type podTemplate struct {
	Metadata struct {
		Labels map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		ServiceAccountName string          `yaml:"serviceAccountName"`
		SecurityContext    securityContext `yaml:"securityContext"`
		InitContainers     []container     `yaml:"initContainers"`
		Containers         []container     `yaml:"containers"`
	} `yaml:"spec"`
}

// manifest is what the test looks at of a Kubernetes object.
type manifest struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Selector yaml.Node `yaml:"selector"` // a service has labels here, a deployment matchLabels
		Ports    []struct {
			Port int `yaml:"port"`
		} `yaml:"ports"`
		Template    podTemplate `yaml:"template"`
		JobTemplate struct {    // template of a cron job
			Spec struct {
				Template podTemplate `yaml:"template"`
			} `yaml:"spec"`
		} `yaml:"jobTemplate"`
	} `yaml:"spec"`
}

// TestManifests: the Kubernetes manifests are YAML, each service has pods with
// its labels and ports, each deployment selects its own pods, accounts exist, and
// pods keep the restricted profile of Kubernetes with a read-only root file system.
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
	pods := make(map[string]podTemplate)
	for _, m := range slices.Concat(objects["Deployment"], objects["Job"]) {
		pods[m.Metadata.Name] = m.Spec.Template
	}
	for _, m := range objects["CronJob"] {
		pods[m.Metadata.Name] = m.Spec.JobTemplate.Spec.Template
		if m.Spec.JobTemplate.Spec.Template.Spec.ServiceAccountName == "" {
			t.Errorf("%s: no account", m.Metadata.Name)
		}
	}
	for name, pod := range pods {
		if account := pod.Spec.ServiceAccountName; account != "" && !accounts[account] {
			t.Errorf("%s: no account %s", name, account)
		}
		if of := pod.Spec.SecurityContext; !of.RunAsNonRoot || of.SeccompProfile.Type != "RuntimeDefault" {
			t.Errorf("%s: the pod may run as root, or without a seccomp profile", name)
		}
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			of := c.SecurityContext
			if of.AllowPrivilegeEscalation == nil || *of.AllowPrivilegeEscalation {
				t.Errorf("%s: container %s may gain privileges", name, c.Name)
			}
			if !of.ReadOnlyRootFilesystem || !slices.Equal(of.Capabilities.Drop, []string{"ALL"}) {
				t.Errorf("%s: container %s has a writable root file system, or capabilities", name, c.Name)
			}
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
