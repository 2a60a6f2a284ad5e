package binnacle

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

var definitionResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

const (
	fieldManager       = "binnacle-testing"
	establishedTimeout = 10 * time.Second
)

// installDefinitions applies every definition in the files and folders, and waits until the server serves them.
func installDefinitions(config *rest.Config, paths []string) error {
	definitions, err := readDefinitions(paths)
	if err != nil || len(definitions) == 0 {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), establishedTimeout)
	defer cancel()
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	for _, definition := range definitions {
		resource := client.Resource(definitionResource)
		if _, err = resource.Apply(ctx, definition.GetName(), definition, options); err != nil {
			return fmt.Errorf("%s: %w", definition.GetName(), err)
		}
	}
	for _, definition := range definitions {
		if err = waitUntilEstablished(ctx, client, definition.GetName()); err != nil {
			return fmt.Errorf("%s is not established: %w", definition.GetName(), err)
		}
	}
	return nil
}

func waitUntilEstablished(ctx context.Context, client dynamic.Interface, name string) error {
	return wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		found, err := client.Resource(definitionResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(found.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, isEstablished), err
	})
}

func isEstablished(condition any) bool {
	fields, _ := condition.(map[string]any)
	return fields["type"] == "Established" && fields["status"] == "True"
}

func readDefinitions(paths []string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				return nil
			}
			definitions, err := definitionsIn(file)
			found = append(found, definitions...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func definitionsIn(file string) ([]*unstructured.Unstructured, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		object := &unstructured.Unstructured{}
		if err = yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if object.GetKind() == "CustomResourceDefinition" {
			found = append(found, object)
		}
	}
}
