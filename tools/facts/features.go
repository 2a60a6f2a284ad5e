package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A gate is a feature gate as one release has it.
type gate struct {
	Stage   string
	Default bool
	Locked  bool
}

var stages = map[string]string{"GA": "GA", "Beta": "BETA", "Alpha": "ALPHA", "Deprecated": "DEPRECATED"}

// gateFiles lists the files that declare gates of kube-apiserver. Later releases keep the table in a file of its own
// and add the gates of the libraries that the program registers at start.
func (r *release) gateFiles() []string {
	patterns := []string{
		r.dir("kubernetes", "pkg", "features", "*kube_features.go"),
		r.dir("apiserver", "pkg", "features", "*kube_features.go"),
		r.dir("apiextensions-apiserver", "pkg", "features", "*kube_features.go"),
	}
	registered := r.text("kubernetes", "cmd/kube-apiserver/app/server.go") +
		r.text("kubernetes", "pkg/features/kube_features.go")
	for call, pattern := range map[string]string{
		"logs.AddFeatureGates":            r.dir("component-base", "logs", "kube_features.go"),
		"logsapi.AddFeatureGates":         r.dir("component-base", "logs", "api", "v1", "kube_features.go"),
		"zpagesfeatures.AddFeatureGates":  r.dir("component-base", "zpages", "features", "kube_features.go"),
		"metricsfeatures.AddFeatureGates": r.dir("component-base", "metrics", "features", "kube_features.go"),
		"clientfeatures.Add":              r.dir("client-go", "features", "known_features.go"),
	} {
		if strings.Contains(registered, call) {
			patterns = append(patterns, pattern)
		}
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		check(err)
		if len(found) == 0 {
			check(fmt.Errorf("1.%d: no file of feature gates at %s", r.minor, pattern))
		}
		files = append(files, found...)
	}
	return files
}

// readGates reads the gates of one release: their names are constants, their rows a map by constant.
func (r *release) readGates() map[string]gate {
	set := token.NewFileSet()
	var parsed []*ast.File
	names := map[string]string{}
	for _, path := range r.gateFiles() {
		file, err := parser.ParseFile(set, path, nil, 0)
		check(err)
		parsed = append(parsed, file)
		for _, declared := range file.Decls {
			if general, ok := declared.(*ast.GenDecl); ok && general.Tok == token.CONST {
				readGateNames(general, names)
			}
		}
	}
	gates := map[string]gate{}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			row, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			name, known := names[lastName(row.Key)]
			specs, isTable := row.Value.(*ast.CompositeLit)
			if !known || !isTable {
				return true
			}
			if one, ok := r.gateOf(specs); ok {
				gates[name] = one
			}
			return false
		})
	}
	return gates
}

func readGateNames(general *ast.GenDecl, names map[string]string) {
	for _, spec := range general.Specs {
		value := spec.(*ast.ValueSpec)
		if len(value.Values) != 1 || lastName(value.Type) != "Feature" {
			continue
		}
		if literal, ok := value.Values[0].(*ast.BasicLit); ok {
			names[value.Names[0].Name], _ = strconv.Unquote(literal.Value)
		}
	}
}

// lastName is the identifier at the end of an expression: Beta of featuregate.Beta.
func lastName(expression ast.Expr) string {
	switch one := expression.(type) {
	case *ast.Ident:
		return one.Name
	case *ast.SelectorExpr:
		return one.Sel.Name
	}
	return ""
}

// gateOf reads one specification, or of a list with versions the last one that is not newer than the release.
func (r *release) gateOf(specs *ast.CompositeLit) (found gate, ok bool) {
	for _, element := range specs.Elts {
		switch one := element.(type) {
		case *ast.KeyValueExpr:
			return readGate(specs)
		case *ast.CompositeLit:
			if r.isNewer(one) {
				continue
			}
			if next, valid := readGate(one); valid {
				found, ok = next, true
			}
		}
	}
	return found, ok
}

// isNewer reports whether the specification starts with a later release.
func (r *release) isNewer(spec *ast.CompositeLit) bool {
	for _, element := range spec.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok || lastName(field.Key) != "Version" {
			continue
		}
		call := field.Value.(*ast.CallExpr)
		minor := 0
		switch lastName(call.Fun) {
		case "MustParse":
			text, _ := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
			_, after, _ := strings.Cut(text, ".")
			minor, _ = strconv.Atoi(after)
		case "MajorMinor":
			minor, _ = strconv.Atoi(call.Args[1].(*ast.BasicLit).Value)
		default:
			check(fmt.Errorf("1.%d: version of a feature gate in an unknown form", r.minor))
		}
		return minor > r.minor
	}
	return false
}

func readGate(spec *ast.CompositeLit) (found gate, ok bool) {
	for _, element := range spec.Elts {
		field, isField := element.(*ast.KeyValueExpr)
		if !isField {
			return found, false
		}
		switch lastName(field.Key) {
		case "Default":
			found.Default = lastName(field.Value) == "true"
		case "LockToDefault":
			found.Locked = lastName(field.Value) == "true"
		case "PreRelease":
			found.Stage, ok = stages[lastName(field.Value)]
		}
	}
	return found, ok
}

// gateSpans folds the gates of all releases: [since, until, stage, default, locked] for each span that agrees.
func gateSpans(releases []*release) map[string][][]any {
	rows := map[string][][]any{}
	before := 0
	for _, r := range releases {
		gates := r.readGates()
		enough(r, "feature gates", len(gates), before)
		before = len(gates)
		for name, one := range gates {
			spans := rows[name]
			if last := len(spans) - 1; last >= 0 && spans[last][1] == r.minor-1 &&
				spans[last][2] == one.Stage && spans[last][3] == one.Default && spans[last][4] == one.Locked {
				spans[last][1] = r.minor
				continue
			}
			rows[name] = append(spans, []any{r.minor, r.minor, one.Stage, one.Default, one.Locked})
		}
	}
	return rows
}

// writeGates writes one row per gate.
func writeGates(into string, releases []*release) error {
	rows := gateSpans(releases)
	lines := []string{}
	for _, name := range sortedKeys(rows) {
		spans, err := json.Marshal(rows[name])
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  %q: %s", name, spans))
	}
	text := "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	return os.WriteFile(filepath.Join(into, "features.json"), []byte(text), 0o644)
}
