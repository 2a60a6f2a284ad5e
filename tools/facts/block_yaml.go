package main

import (
	"fmt"
	"strconv"
	"strings"
)

// blockYAML reads the block style that Kubernetes writes into its test data: maps, lists of maps or of words, and
// plain or quoted scalars. Anything else is an error, so a change of the form cannot pass unseen.
//
//	rules:
//	- verbs:
//	  - get
//
// gives {"rules": [{"verbs": ["get"]}]}.
func blockYAML(text string) (value any, err error) {
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("%v", found)
		}
	}()
	reader := &blockReader{}
	for _, line := range strings.Split(text, "\n") {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" {
			reader.lines = append(reader.lines, blockLine{len(line) - len(trimmed), trimmed})
		}
	}
	value = reader.block(0)
	if reader.at < len(reader.lines) {
		return nil, fmt.Errorf("unexpected %q", reader.lines[reader.at].text)
	}
	return value, nil
}

type blockLine struct {
	indent int
	text   string
}

type blockReader struct {
	lines []blockLine
	at    int
}

// is reports whether a line of this indentation is next, and whether it starts an element of a list.
func (r *blockReader) is(indent int, element bool) bool {
	return r.at < len(r.lines) && r.lines[r.at].indent == indent &&
		strings.HasPrefix(r.lines[r.at].text, "- ") == element
}

func (r *blockReader) block(indent int) any {
	if r.is(indent, true) {
		list := []any{}
		for r.is(indent, true) {
			list = append(list, r.element(indent))
		}
		return list
	}
	fields := map[string]any{}
	for r.is(indent, false) {
		key, rest, isField := strings.Cut(r.lines[r.at].text, ":")
		if !isField {
			panic(fmt.Sprintf("no field in %q", r.lines[r.at].text))
		}
		r.at++
		fields[key] = r.fieldValue(indent, strings.TrimSpace(rest))
	}
	return fields
}

// element reads what follows a dash: a word, or a map whose first field is on the same line.
func (r *blockReader) element(indent int) any {
	rest := strings.TrimPrefix(r.lines[r.at].text, "- ")
	key, after, _ := strings.Cut(rest, ":")
	if rest == key || !isPlainKey(key) || after != "" && !strings.HasPrefix(after, " ") {
		r.at++
		return scalar(rest)
	}
	r.lines[r.at] = blockLine{indent + 2, rest}
	return r.block(indent + 2)
}

func isPlainKey(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// fieldValue reads the value of a field. A list may begin in the column of its field.
func (r *blockReader) fieldValue(indent int, rest string) any {
	if rest != "" {
		return scalar(rest)
	}
	if r.is(indent, true) {
		return r.block(indent)
	}
	return r.block(indent + 2)
}

func scalar(text string) any {
	switch {
	case text == "null":
		return nil
	case text == "{}":
		return map[string]any{}
	case strings.HasPrefix(text, `"`):
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			panic(fmt.Sprintf("cannot read %s", text))
		}
		return unquoted
	case strings.HasPrefix(text, "'"):
		return strings.Trim(text, "'")
	case strings.ContainsAny(text[:1], "[{|>&*!%@"):
		panic(fmt.Sprintf("cannot read %s", text))
	}
	return text
}
