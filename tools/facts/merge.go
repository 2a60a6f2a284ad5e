package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// tables collects every release, oldest first.
type tables struct {
	releases []*oneRelease
}

func newTables() *tables { return &tables{} }

func (m *tables) add(t *oneRelease) { m.releases = append(m.releases, t) }

// fillIn gives a release the subresources its OpenAPI document left out, as the next release describes them.
func (m *tables) fillIn() {
	for i := len(m.releases) - 1; i >= 0; i-- {
		t := m.releases[i]
		for where, gate := range t.conditional() {
			one := t.resources[where.group+"/"+where.version+"/"+where.plural]
			if one == nil {
				continue
			}
			if where.subresource == "" {
				one.Gate = gate
				continue
			}
			sub := one.subresource(where.subresource)
			// Only the core group's document is incomplete, and only where one version serves it.
			if sub == nil && where.group == "" && i+1 < len(m.releases) {
				sub = m.releases[i+1].copyOf(where)
				if sub != nil {
					one.Subresources = append(one.Subresources, sub)
					sort.Slice(one.Subresources, func(a, b int) bool { return one.Subresources[a].Name < one.Subresources[b].Name })
				}
			}
			if sub != nil {
				sub.Gate = gate
			}
		}
	}
}

func (t *oneRelease) copyOf(where target) *subresource {
	one := t.resources[where.group+"/"+where.version+"/"+where.plural]
	if one == nil {
		return nil
	}
	sub := one.subresource(where.subresource)
	if sub == nil {
		return nil
	}
	copied := *sub
	return &copied
}

func (one *resource) subresource(name string) *subresource {
	for _, sub := range one.Subresources {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

func (m *tables) oldest() int { return m.releases[0].release.minor }
func (m *tables) newest() int { return m.releases[len(m.releases)-1].release.minor }

// A run is one value and the releases, without a gap, in which it was so.
type run struct {
	since, until int
	value        any
}

// runs folds what each release says about one thing; get returns nil where a release does not have it.
func (m *tables) runs(get func(*oneRelease) any) []run {
	var out []run
	last := ""
	for i, t := range m.releases {
		value := get(t)
		if value == nil {
			last = ""
			continue
		}
		text := string(encode(value))
		if text == last && out[len(out)-1].until == m.releases[i-1].release.minor {
			out[len(out)-1].until = t.release.minor
			continue
		}
		last = text
		out = append(out, run{since: t.release.minor, until: t.release.minor, value: value})
	}
	return out
}

// mergedOrder lists the names of all releases in the newest order, older ones behind what they stood behind.
func (m *tables) mergedOrder(list func(*oneRelease) []string) []string {
	var order []string
	seen := map[string]bool{}
	for i := len(m.releases) - 1; i >= 0; i-- {
		behind := ""
		for _, name := range list(m.releases[i]) {
			if !seen[name] {
				seen[name] = true
				order = insertBehind(order, behind, name)
			}
			behind = name
		}
	}
	return order
}

func insertBehind(order []string, behind, name string) []string {
	at := 0
	for i, have := range order {
		if have == behind {
			at = i + 1
		}
	}
	order = append(order, "")
	copy(order[at+1:], order[at:])
	order[at] = name
	return order
}

func (t *oneRelease) typeOf(file, name string) *goType {
	if p := t.packages[file]; p != nil {
		return p.types[name]
	}
	return nil
}

// fieldKey names a field across releases; an inlined struct has no JSON name, so its type stands in.
func fieldKey(f *goField) string {
	if strings.Contains(f.Flags, "i") {
		return "<" + f.Type
	}
	return f.Name
}

// structOf is the type where the release declares it with fields.
func (t *oneRelease) structOf(file, name string) *goType {
	if one := t.typeOf(file, name); one != nil && one.is != "name" {
		return one
	}
	return nil
}

// typeTable is the merged form of one struct or union.
func (m *tables) typeTable(file, name string) map[string]any {
	out := map[string]any{}
	since, until := m.span(func(t *oneRelease) bool { return t.structOf(file, name) != nil })
	if present := m.runs(func(t *oneRelease) any {
		if t.structOf(file, name) == nil {
			return nil
		}
		return true
	}); len(present) != 1 {
		check(fmt.Errorf("%s: %s was gone for a while, the tables cannot say that", file, name))
	}
	m.putSpan(out, since, until, m.oldest(), m.newest())
	order := m.mergedOrder(func(t *oneRelease) (names []string) {
		if one := t.structOf(file, name); one != nil {
			for _, f := range one.fields {
				names = append(names, fieldKey(f))
			}
		}
		return names
	})
	fields := []any{}
	for _, key := range order {
		for _, r := range m.runs(func(t *oneRelease) any { return t.fieldOf(file, name, key) }) {
			fields = append(fields, m.fieldRow(r, since, until))
		}
	}
	out["fields"] = fields
	for _, t := range m.releases {
		if one := t.structOf(file, name); one != nil && one.choosing {
			out["discriminator"] = one.chooses
		}
	}
	if from, _ := m.span(func(t *oneRelease) bool { one := t.structOf(file, name); return one != nil && one.atomic }); from > 0 {
		out["atomicSince"] = from
	}
	if from, _ := m.span(func(t *oneRelease) bool { one := t.structOf(file, name); return one != nil && one.granular }); from > 0 {
		out["granularSince"] = from
	}
	return out
}

func (t *oneRelease) fieldOf(file, name, key string) any {
	if one := t.structOf(file, name); one != nil {
		for _, f := range one.fields {
			if fieldKey(f) == key {
				return f
			}
		}
	}
	return nil
}

// nameTable is the merged form of a name: one row, or a list of rows with spans where releases differ.
func (m *tables) nameTable(file, name string) any {
	rows := m.runs(func(t *oneRelease) any {
		if one := t.typeOf(file, name); one != nil && one.is == "name" {
			return nameRow(one)
		}
		return nil
	})
	out := []any{}
	for _, r := range rows {
		row := map[string]any{}
		for key, value := range r.value.(map[string]any) {
			row[key] = value
		}
		if len(rows) > 1 || m.everStruct(file, name) {
			m.putSpan(row, r.since, r.until, m.oldest(), m.newest())
		}
		out = append(out, row)
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

func (m *tables) everStruct(file, name string) bool {
	since, _ := m.span(func(t *oneRelease) bool { return t.structOf(file, name) != nil })
	return since > 0
}

func (m *tables) fieldRow(r run, since, until int) []any {
	f := r.value.(*goField)
	options := map[string]any{}
	for name, value := range f.Options {
		options[name] = value
	}
	m.putSpan(options, r.since, r.until, since, until)
	row := []any{f.Name, f.Type, f.Number, f.Flags}
	if len(options) > 0 {
		row = append(row, options)
	}
	return row
}

// putSpan notes since and until where they say more than what surrounds them.
func (m *tables) putSpan(into map[string]any, since, until, outerSince, outerUntil int) {
	if since != outerSince {
		into["since"] = since
	}
	if until != outerUntil {
		into["until"] = until
	}
}

func (m *tables) span(has func(*oneRelease) bool) (since, until int) {
	for _, t := range m.releases {
		if has(t) {
			if since == 0 {
				since = t.release.minor
			}
			until = t.release.minor
		}
	}
	return since, until
}

// rows merges keyed rows (resources, group versions) into rows with since and until.
func (m *tables) rows(keys func(*oneRelease) []string, get func(*oneRelease, string) any) []any {
	all := map[string]bool{}
	for _, t := range m.releases {
		for _, key := range keys(t) {
			all[key] = true
		}
	}
	sorted := make([]string, 0, len(all))
	for key := range all {
		sorted = append(sorted, key)
	}
	sort.Strings(sorted)
	out := []any{}
	for _, key := range sorted {
		for _, r := range m.runs(func(t *oneRelease) any { return get(t, key) }) {
			var row map[string]any
			check(json.Unmarshal(encode(r.value), &row))
			m.putSpan(row, r.since, r.until, m.oldest(), m.newest())
			out = append(out, row)
		}
	}
	return out
}
