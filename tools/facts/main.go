// Makes the tables in facts/ from the published Go modules of the releases named in releases.txt.
// Names, numbers, types and values are read; no sentence of the sources is ever written.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A release is one row of releases.txt: the version of k8s.io/kubernetes and that of the staging modules.
type release struct {
	minor   int
	kube    string
	staging string
	dirs    map[string]string // module name → directory
}

func main() {
	into := "../../facts"
	if len(os.Args) > 1 {
		into = os.Args[1]
	}
	releases, err := readReleases("releases.txt")
	check(err)
	merged := newTables()
	for _, r := range releases {
		check(r.download())
		t := &oneRelease{release: r, packages: map[string]*goPackage{}}
		t.readPackages()
		t.readResources()
		t.readRules()
		merged.checkAgainstLast(t)
		merged.add(t)
		fmt.Fprintf(os.Stderr, "1.%d: %d packages, %d resources\n", r.minor, len(t.packages), len(t.resources))
	}
	merged.fillIn()
	check(merged.write(into))
	check(writeGates(into, releases))
	check(writeBootstrapPolicy(filepath.Join(into, "../src/access/authorize/bootstrap-policy.json"), releases))
}

func readReleases(path string) ([]*release, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []*release
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		parts := strings.Fields(lines.Text())
		if len(parts) == 0 {
			continue
		}
		if len(parts) != 2 {
			return nil, fmt.Errorf("%s: want two versions in %q", path, lines.Text())
		}
		minor, err := strconv.Atoi(strings.Split(parts[0], ".")[1])
		if err != nil {
			return nil, err
		}
		out = append(out, &release{minor: minor, kube: parts[0], staging: parts[1]})
	}
	return out, lines.Err()
}

func (r *release) dir(module string, path ...string) string {
	return filepath.Join(append([]string{r.dirs[module]}, path...)...)
}

// text is the content of a module's file, empty where the release does not have it.
func (r *release) text(module, path string) string {
	bytes, err := os.ReadFile(r.dir(module, path))
	if err != nil {
		return ""
	}
	return string(bytes)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "facts:", err)
		os.Exit(1)
	}
}
