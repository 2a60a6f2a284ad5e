package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func rawJSON(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return bytes.TrimSpace(out.Bytes())
}

// write replaces every table in the directory.
func (m *tables) write(dir string) error {
	old, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range old {
		os.Remove(path)
	}
	packages := map[string]map[string]any{}
	for _, t := range m.releases {
		for file, p := range t.packages {
			packages[file] = m.packageRow(file, p)
		}
	}
	for _, file := range sortedKeys(packages) {
		if err := os.WriteFile(filepath.Join(dir, file+".json"), m.packageTable(file), 0o644); err != nil {
			return err
		}
		if rules := m.ruleTable(file); rules != nil {
			packages[file]["rulesSince"], _ = m.span(func(t *oneRelease) bool { return t.rulesOf(file) != nil })
			if err := os.WriteFile(filepath.Join(dir, "rules."+file+".json"), rules, 0o644); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "releases.json"), m.releaseTable(packages), 0o644)
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// packageRow says what a table's types are called; those of meta and version belong to no group version.
func (m *tables) packageRow(file string, p *goPackage) map[string]any {
	row := map[string]any{"openApi": p.openAPI}
	if strings.HasPrefix(file, "meta.") || file == "version" {
		return row
	}
	row["group"], row["version"] = p.group, p.version
	since, until := m.span(func(t *oneRelease) bool { return t.packages[file] != nil })
	m.putSpan(row, since, until, m.oldest(), m.newest())
	return row
}

// packageTable writes one field a line, so that a new release reads well as a difference.
func (m *tables) packageTable(file string) []byte {
	is := map[string]string{}
	named := map[string]bool{}
	for _, t := range m.releases {
		if p := t.packages[file]; p != nil {
			for name, one := range p.types {
				if one.is == "name" {
					named[name] = true
				} else {
					is[name] = one.is
				}
			}
		}
	}
	var out strings.Builder
	out.WriteString("{\n\"types\": {")
	comma := ""
	for _, name := range sortedKeys(is) {
		table := m.typeTable(file, name)
		if is[name] == "union" {
			table["union"] = true
		}
		fields := table["fields"].([]any)
		delete(table, "fields")
		head := strings.TrimSuffix(string(encode(table)), "}")
		if len(table) > 0 {
			head += ","
		}
		fmt.Fprintf(&out, "%s\n%s: %s\"fields\":[", comma, encode(name), head)
		for i, row := range fields {
			if i > 0 {
				out.WriteString(",")
			}
			fmt.Fprintf(&out, "\n%s", encode(row))
		}
		out.WriteString("]}")
		comma = ","
	}
	out.WriteString("},\n\"names\": {")
	comma = ""
	for _, name := range sortedKeys(named) {
		fmt.Fprintf(&out, "%s\n%s: %s", comma, encode(name), encode(m.nameTable(file, name)))
		comma = ","
	}
	out.WriteString("}}\n")
	return []byte(out.String())
}

func nameRow(one *goType) map[string]any {
	row := map[string]any{"of": one.of}
	if one.message && strings.HasPrefix(one.of, "[]") {
		row["message"] = true
	}
	if one.alias {
		row["alias"] = true
	}
	if one.enum {
		row["enum"] = true
	}
	if len(one.values) > 0 {
		row["values"] = one.values
	}
	return row
}

// releaseTable writes what routing and discovery need: releases, packages, group versions and resources.
func (m *tables) releaseTable(packages map[string]map[string]any) []byte {
	versions := map[string]string{}
	for _, t := range m.releases {
		versions[fmt.Sprint(t.release.minor)] = t.release.kube
	}
	groupVersions := m.rows(
		func(t *oneRelease) []string { return sortedKeys(t.versions) },
		func(t *oneRelease, key string) any {
			if one := t.versions[key]; one != nil {
				return one
			}
			return nil
		})
	resources := m.rows(
		func(t *oneRelease) []string { return sortedKeys(t.resources) },
		func(t *oneRelease, key string) any {
			if one := t.resources[key]; one != nil {
				return one
			}
			return nil
		})
	var out strings.Builder
	fmt.Fprintf(&out, "{\n\"releases\": %s,\n\"packages\": {", encode(versions))
	comma := ""
	for _, file := range sortedKeys(packages) {
		fmt.Fprintf(&out, "%s\n%s: %s", comma, encode(file), encode(packages[file]))
		comma = ","
	}
	out.WriteString("},\n\"groupVersions\": [\n")
	writeRows(&out, groupVersions)
	out.WriteString("],\n\"resources\": [\n")
	writeRows(&out, resources)
	out.WriteString("]}\n")
	return []byte(out.String())
}

func writeRows(out *strings.Builder, rows []any) {
	for i, row := range rows {
		out.Write(encode(row))
		if i < len(rows)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
}
