package binnacle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const gears = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gears.go.example.com }
spec:
  group: go.example.com
  names: { kind: Gear, plural: gears }
  scope: Namespaced
  versions:
  - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: no-definition }
`

var gearResource = schema.GroupVersionResource{Group: "go.example.com", Version: "v1", Resource: "gears"}

func gear(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "go.example.com/v1", "kind": "Gear",
		"metadata": map[string]any{"name": name},
	}}
}

func gearsIn(t *testing.T, e *Environment) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(e.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(gearResource).Namespace("default")
}

func count(t *testing.T, e *Environment) int {
	t.Helper()
	list, err := gearsIn(t, e).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func create(t *testing.T, e *Environment, name string) error {
	t.Helper()
	_, err := gearsIn(t, e).Create(context.Background(), gear(name), metav1.CreateOptions{})
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	directory := t.TempDir()
	must(t, os.WriteFile(filepath.Join(directory, "gears.yaml"), []byte(gears), 0o600))
	environment := &Environment{CRDDirectoryPaths: []string{directory}}
	_, err := environment.Start()
	must(t, err)
	defer func() { must(t, environment.Stop()) }()

	t.Run("forks do not see each other", func(t *testing.T) {
		fork, err := environment.Fork()
		must(t, err)
		must(t, create(t, fork, "a"))
		if count(t, fork) != 1 || count(t, environment) != 0 {
			t.Fatal("a fork must keep its objects to itself")
		}
		must(t, fork.Reset())
		if count(t, fork) != 0 {
			t.Fatal("a reset must remove the object")
		}
		must(t, fork.Stop())
	})
	t.Run("a reset keeps the definitions", func(t *testing.T) {
		must(t, create(t, environment, "a"))
		must(t, environment.Reset())
		if count(t, environment) != 0 {
			t.Fatal("a reset must remove the object")
		}
	})
	t.Run("faults", func(t *testing.T) {
		match := map[string]any{"verb": "create", "resource": "gears", "times": 1}
		_, err := environment.AddFault(Fault{
			Match:  match,
			Action: map[string]any{"error": map[string]any{"code": 409}},
		})
		must(t, err)
		if err = create(t, environment, "b"); !apierrors.IsConflict(err) {
			t.Fatalf("want a conflict, got %v", err)
		}
		must(t, create(t, environment, "b"))
		must(t, environment.ClearFaults())
	})
	t.Run("time", func(t *testing.T) {
		at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		must(t, environment.FreezeClock(at))
		must(t, environment.AdvanceClock(90*time.Minute))
		must(t, create(t, environment, "c"))
		made, err := gearsIn(t, environment).Get(context.Background(), "c", metav1.GetOptions{})
		must(t, err)
		if got := made.GetCreationTimestamp(); !got.Time.Equal(at.Add(90 * time.Minute)) {
			t.Fatalf("created at %s", got)
		}
	})
}

func TestWithoutTheCommand(t *testing.T) {
	for _, command := range []string{"no-such-binnacle", "/nonexistent/binnacle"} {
		environment := &Environment{Command: []string{command}}
		_, err := environment.Start()
		if err == nil || !strings.Contains(err.Error(), "set BINNACLE to its command") {
			t.Errorf("%s: %v", command, err)
		}
	}
}
