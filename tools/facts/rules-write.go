package main

import (
	"fmt"
	"strings"
)

// dropShadowed removes the rules that kube-apiserver evaluates but does not enforce (those of stage alpha), and steps
// that are empty without them. It reports whether anything was removed.
func (t *oneRelease) dropShadowed() bool {
	changed := false
	for _, p := range t.packages {
		if p.rules == nil {
			continue
		}
		for name, steps := range p.rules.types {
			left := t.enforced(p, steps)
			changed = changed || string(encode(left)) != string(encode(steps))
			if len(left) == 0 {
				changed = true
				delete(p.rules.types, name)
			} else {
				p.rules.types[name] = left
			}
		}
	}
	return changed
}

// enforced keeps the steps that can yield an error. An alpha step that ends the checks stays before others.
func (t *oneRelease) enforced(p *goPackage, steps []any) []any {
	out := []any{}
	for i := len(steps) - 1; i >= 0; i-- {
		step := t.withoutShadowed(p, steps[i].([]any))
		mark, _ := step[1].(string)
		isField := step[0] == "field"
		if !isField && strings.HasPrefix(mark, "a") && (!strings.Contains(mark, "s") || len(out) == 0) {
			continue
		}
		isQuiet := !isField && strings.HasSuffix(mark, "q")
		if isEmptyStep(step) || t.isUnknownType(p, step) || isQuiet && len(out) == 0 {
			continue
		}
		out = append([]any{step}, out...)
	}
	return out
}

func (t *oneRelease) withoutShadowed(p *goPackage, step []any) []any {
	last := len(step) - 1
	nested, ok := step[last].([]any)
	if !ok || last < 2 {
		return step
	}
	copied := append([]any{}, step...)
	switch step[0] {
	case "field", "group", "eachValSliceVal", "eachMapVal", "eachMapKey", "ifOption", "subfield":
		copied[last] = t.enforced(p, nested)
	case "discriminated":
		rows := []any{}
		for _, one := range nested {
			row := one.([]any)
			if checks, ok := row[1].([]any); ok {
				row = []any{row[0], t.enforced(p, checks)}
			}
			rows = append(rows, row)
		}
		copied[last] = rows
		if checks, ok := step[last-1].([]any); ok {
			copied[last-1] = t.enforced(p, checks)
		}
	}
	return copied
}

func isEmptyStep(step []any) bool {
	last := len(step) - 1
	switch step[0] {
	case "field", "group", "eachValSliceVal", "eachMapVal", "eachMapKey", "ifOption", "subfield":
		return len(step[last].([]any)) == 0
	case "discriminated":
		checks, _ := step[last-1].([]any)
		for _, one := range step[last].([]any) {
			more, _ := one.([]any)[1].([]any)
			checks = append(checks, more...)
		}
		return len(checks) == 0
	}
	return false
}

// isUnknownType reports whether a step refers to a type without rules.
func (t *oneRelease) isUnknownType(p *goPackage, step []any) bool {
	if step[0] != "type" {
		return false
	}
	file, name := p.file, step[2].(string)
	if dot := strings.LastIndex(name, "."); dot >= 0 {
		file, name = name[:dot], name[dot+1:]
	}
	other := t.packages[file]
	return other == nil || other.rules == nil || other.rules.types[name] == nil
}

func (t *oneRelease) rulesOf(file string) *ruleTable {
	if p := t.packages[file]; p != nil && p.rules != nil {
		return p.rules
	}
	return nil
}

// ruleTable writes the rules of one package, one type a line; nil where it has none in any release.
func (m *tables) ruleTable(file string) []byte {
	kinds, types := map[string]bool{}, map[string]bool{}
	for _, t := range m.releases {
		if rules := t.rulesOf(file); rules != nil {
			for name := range rules.types {
				types[name] = true
			}
			for name := range rules.kinds {
				kinds[name] = true
			}
		}
	}
	if len(types) == 0 {
		return nil
	}
	var out strings.Builder
	out.WriteString("{\n\"kinds\": {")
	m.writeRuns(&out, kinds, "subresources", func(t *oneRelease, name string) any {
		if rules := t.rulesOf(file); rules != nil && rules.types[name] != nil && rules.kinds[name] != nil {
			return rules.kinds[name]
		}
		return nil
	})
	out.WriteString("},\n\"types\": {")
	m.writeRuns(&out, types, "steps", func(t *oneRelease, name string) any {
		if rules := t.rulesOf(file); rules != nil && rules.types[name] != nil {
			return rules.types[name]
		}
		return nil
	})
	out.WriteString("}}\n")
	return []byte(out.String())
}

// writeRuns writes for each name the rows that releases have for it.
func (m *tables) writeRuns(out *strings.Builder, names map[string]bool, key string, get func(*oneRelease, string) any) {
	comma := ""
	for _, name := range sortedKeys(names) {
		rows := []any{}
		for _, r := range m.runs(func(t *oneRelease) any { return get(t, name) }) {
			row := map[string]any{key: r.value}
			m.putSpan(row, r.since, r.until, m.oldest(), m.newest())
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			fmt.Fprintf(out, "%s\n%s: %s", comma, encode(name), encode(rows))
			comma = ","
		}
	}
}
