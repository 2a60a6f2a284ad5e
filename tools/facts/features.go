package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// A feature gate as one release has it.
type gate struct {
	Stage   string
	Default bool
	Locked  bool
}

var (
	gateName = regexp.MustCompile(`(?m)^\s*(\w+)\s+featuregate\.Feature\s*=\s*"(\w+)"`)
	gateRow  = regexp.MustCompile(`(?m)^\s*(?:\w+\.)?(\w+):\s*\{Default:\s*(true|false),\s*PreRelease:\s*featuregate\.(\w+)(,\s*LockToDefault:\s*true)?`)
	stages   = map[string]string{"GA": "GA", "Beta": "BETA", "Alpha": "ALPHA", "Deprecated": "DEPRECATED"}
)

// readGates reads the gates of one release: their names are constants, their rows a map by constant.
func (r *release) readGates() map[string]gate {
	texts := []string{}
	for _, path := range []string{
		r.dir("kubernetes", "pkg", "features", "kube_features.go"),
		r.dir("apiserver", "pkg", "features", "kube_features.go"),
		r.dir("apiextensions-apiserver", "pkg", "features", "kube_features.go"),
	} {
		text, err := os.ReadFile(path)
		check(err)
		texts = append(texts, string(text))
	}
	names := map[string]string{}
	for _, text := range texts {
		for _, found := range gateName.FindAllStringSubmatch(text, -1) {
			names[found[1]] = found[2]
		}
	}
	gates := map[string]gate{}
	for _, text := range texts {
		for _, found := range gateRow.FindAllStringSubmatch(text, -1) {
			name, known := names[found[1]]
			if !known {
				name = found[1]
			}
			gates[name] = gate{stages[found[3]], found[2] == "true", found[4] != ""}
		}
	}
	return gates
}

// writeGates writes one row a gate: [since, until, stage, default, locked] for each span of releases that agree.
func writeGates(into string, releases []*release) error {
	rows := map[string][][]any{}
	for _, r := range releases {
		for name, one := range r.readGates() {
			spans := rows[name]
			if last := len(spans) - 1; last >= 0 && spans[last][1] == r.minor-1 &&
				spans[last][2] == one.Stage && spans[last][3] == one.Default && spans[last][4] == one.Locked {
				spans[last][1] = r.minor
				continue
			}
			rows[name] = append(spans, []any{r.minor, r.minor, one.Stage, one.Default, one.Locked})
		}
	}
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	sort.Strings(names)
	lines := []string{}
	for _, name := range names {
		spans, err := json.Marshal(rows[name])
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  %q: %s", name, spans))
	}
	text := "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	return os.WriteFile(filepath.Join(into, "features.json"), []byte(text), 0o644)
}
