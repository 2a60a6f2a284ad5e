package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// The modules facts are read from. The staging modules share one version.
var stagingModules = []string{
	"api", "apimachinery", "apiserver", "apiextensions-apiserver", "kube-aggregator", "component-base", "client-go",
}

// download asks Go's module cache for every module of the release and remembers where they are.
func (r *release) download() error {
	r.dirs = map[string]string{}
	dir, err := moduleDir("k8s.io/kubernetes@v" + r.kube)
	if err != nil {
		return err
	}
	r.dirs["kubernetes"] = dir
	for _, name := range stagingModules {
		dir, err := moduleDir("k8s.io/" + name + "@v" + r.staging)
		if err != nil {
			return err
		}
		r.dirs[name] = dir
	}
	return nil
}

func moduleDir(module string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", module)
	command.Dir = os.TempDir()
	// The checksum database lacks some of these versions.
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GONOSUMDB=k8s.io/*")
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", module, err, out)
	}
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", fmt.Errorf("%s: %s", module, answer.Error)
	}
	return answer.Dir, nil
}
