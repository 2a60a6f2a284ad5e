package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// The roles and bindings that kube-apiserver makes at its first start, from the YAML that its own tests compare with.
const policyData = "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata"

var policyFiles = []string{
	"cluster-roles", "controller-roles", "namespace-roles",
	"cluster-role-bindings", "controller-role-bindings", "namespace-role-bindings",
}

// A policyRow is one object over the releases that have it. What may differ between them, rules and subjects, carries
// spans of its own; where anything else differs there are two rows.
type policyRow struct {
	file         int
	name         string
	head         map[string]any
	since, until int
	details      string // "rules" or "subjects"
	list         []*datedItem
}

type datedItem struct {
	value        map[string]any
	since, until int
}

func (r *release) policyObjects(file string) []map[string]any {
	value, err := blockYAML(r.text("kubernetes", filepath.Join(policyData, file+".yaml")))
	if err != nil {
		check(fmt.Errorf("1.%d: %s: %w", r.minor, file, err))
	}
	items, _ := value.(map[string]any)["items"].([]any)
	var out []map[string]any
	for _, one := range items {
		out = append(out, one.(map[string]any))
	}
	return out
}

// policyRowOf takes apart what every object of the table has in common and what is its own.
func policyRowOf(object map[string]any) *policyRow {
	metadata := object["metadata"].(map[string]any)
	head := map[string]any{"kind": object["kind"], "name": metadata["name"]}
	if namespace, ok := metadata["namespace"]; ok {
		head["namespace"] = namespace
	}
	labels := map[string]any{}
	for key, value := range metadata["labels"].(map[string]any) {
		if key != "kubernetes.io/bootstrapping" {
			labels[key] = value
		}
	}
	if len(labels) > 0 {
		head["labels"] = labels
	}
	if rule, ok := object["aggregationRule"].(map[string]any); ok {
		selectors := []any{}
		for _, one := range rule["clusterRoleSelectors"].([]any) {
			selectors = append(selectors, one.(map[string]any)["matchLabels"])
		}
		head["aggregates"] = selectors
	}
	row := &policyRow{name: fmt.Sprint(metadata["namespace"], "/", metadata["name"]), head: head, details: "rules"}
	if ref, ok := object["roleRef"].(map[string]any); ok {
		head["roleRef"] = map[string]any{"kind": ref["kind"], "name": ref["name"]}
		row.details = "subjects"
	}
	listed, _ := object[row.details].([]any)
	for _, one := range listed {
		row.list = append(row.list, &datedItem{value: one.(map[string]any)})
	}
	return row
}

// bootstrapPolicy merges the objects of all releases into rows with spans.
func bootstrapPolicy(releases []*release) []*policyRow {
	var rows []*policyRow
	before := 0
	for _, r := range releases {
		count := 0
		for file, name := range policyFiles {
			for _, object := range r.policyObjects(name) {
				next := policyRowOf(object)
				next.file = file
				rows = mergePolicyRow(rows, next, r.minor)
				count++
			}
		}
		enough(r, "bootstrap roles and bindings", count, before)
		before = count
	}
	sort.SliceStable(rows, func(a, b int) bool {
		if rows[a].file != rows[b].file {
			return rows[a].file < rows[b].file
		}
		return rows[a].name < rows[b].name
	})
	return rows
}

func mergePolicyRow(rows []*policyRow, next *policyRow, minor int) []*policyRow {
	for _, row := range rows {
		if row.until == minor-1 && row.file == next.file && bytes.Equal(encode(row.head), encode(next.head)) {
			row.until = minor
			row.list = mergeDated(row.list, next.list, minor)
			return rows
		}
	}
	next.since, next.until = minor, minor
	for _, one := range next.list {
		one.since, one.until = minor, minor
	}
	return append(rows, next)
}

// mergeDated lays the next release's list over what is known: the longest common run of items goes on, the others of
// the last release end, new ones begin where the next release has them.
func mergeDated(known, next []*datedItem, minor int) []*datedItem {
	same := func(a, b *datedItem) bool { return bytes.Equal(encode(a.value), encode(b.value)) }
	// common[i][j]: how many items known[i:] and next[j:] have in common, in order.
	common := make([][]int, len(known)+1)
	for i := range common {
		common[i] = make([]int, len(next)+1)
	}
	alive := func(one *datedItem) bool { return one.until == minor-1 }
	for i := len(known) - 1; i >= 0; i-- {
		for j := len(next) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if alive(known[i]) && same(known[i], next[j]) {
				common[i][j] = max(common[i][j], common[i+1][j+1]+1)
			}
		}
	}
	var out []*datedItem
	i, j := 0, 0
	for i < len(known) || j < len(next) {
		switch {
		case i < len(known) && j < len(next) && alive(known[i]) && same(known[i], next[j]) &&
			common[i][j] == common[i+1][j+1]+1:
			known[i].until = minor
			out = append(out, known[i])
			i, j = i+1, j+1
		case i < len(known) && (j == len(next) || common[i+1][j] == common[i][j]):
			out = append(out, known[i])
			i++
		default:
			next[j].since, next[j].until = minor, minor
			out = append(out, next[j])
			j++
		}
	}
	return out
}

// dated adds the bounds of a span where they are narrower than what surrounds it.
func dated(row map[string]any, since, until, from, to int) []byte {
	out := bytes.TrimSuffix(encode(row), []byte("}"))
	if since > from {
		out = fmt.Appendf(out, `,"since":%d`, since)
	}
	if until < to {
		out = fmt.Appendf(out, `,"until":%d`, until)
	}
	return append(out, '}')
}

// writeBootstrapPolicy writes one object per row and one rule per line.
func writeBootstrapPolicy(path string, releases []*release) error {
	first, last := releases[0].minor, releases[len(releases)-1].minor
	var out bytes.Buffer
	rows := bootstrapPolicy(releases)
	out.WriteString("[\n")
	for i, row := range rows {
		line := dated(row.head, row.since, row.until, first, last)
		out.WriteString("  ")
		out.Write(bytes.TrimSuffix(line, []byte("}")))
		if len(row.list) > 0 {
			fmt.Fprintf(&out, ",%q:[\n", row.details)
			for j, one := range row.list {
				out.WriteString("    ")
				out.Write(dated(one.value, one.since, one.until, row.since, row.until))
				out.WriteString(comma(j, len(row.list)))
			}
			out.WriteString("  ]")
		}
		out.WriteString("}" + comma(i, len(rows)))
	}
	out.WriteString("]\n")
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func comma(i, count int) string {
	if i == count-1 {
		return "\n"
	}
	return ",\n"
}
