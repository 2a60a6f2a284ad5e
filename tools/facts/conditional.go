package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// conditional lists the resources and subresources that the sources register, with the feature gate each waits for,
// or none. The OpenAPI document of an older release leaves out those its makers had not turned on.
func (t *oneRelease) conditional() map[target]string {
	out := map[target]string{}
	paths, _ := filepath.Glob(t.release.dir("kubernetes", "pkg/registry/*/rest/*.go"))
	sort.Strings(paths)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		check(err)
		directory := filepath.Base(filepath.Dir(filepath.Dir(path)))
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			version := storedVersion(directory, function.Name.Name)
			if p := t.packages[directory+"."+version]; p != nil {
				found := registrations{target: target{group: p.group, version: version}, out: out}
				found.statements(function.Body.List, "")
			}
		}
	}
	return out
}

// storedVersion reads the version from the name of the function that makes its storage: v1beta1Storage.
func storedVersion(directory, function string) string {
	if directory == "core" {
		return "v1"
	}
	version, ok := strings.CutSuffix(function, "Storage")
	if !ok || !strings.HasPrefix(version, "v") {
		return ""
	}
	return version
}

// registrations walks the statements of one function and notes under which gate each key is assigned.
type registrations struct {
	target   target
	resource string // what the variable `resource` holds
	out      map[target]string
}

func (r *registrations) statements(list []ast.Stmt, gate string) {
	for _, statement := range list {
		switch one := statement.(type) {
		case *ast.AssignStmt:
			r.assignment(one, gate)
		case *ast.BlockStmt:
			r.statements(one.List, gate)
		case *ast.IfStmt:
			r.condition(one, gate)
		}
	}
}

func (r *registrations) condition(one *ast.IfStmt, gate string) {
	outer := r.resource
	if assigned, ok := one.Init.(*ast.AssignStmt); ok {
		r.assignment(assigned, gate)
	}
	inner := gate
	if name := gateAsked(one.Cond); name != "" {
		inner = name
	}
	r.statements(one.Body.List, inner)
	if rest, ok := one.Else.(*ast.BlockStmt); ok {
		r.statements(rest.List, gate)
	}
	r.resource = outer
}

func (r *registrations) assignment(one *ast.AssignStmt, gate string) {
	if len(one.Rhs) == 0 {
		return
	}
	if text := literal(one.Rhs[0]); text != "" && lastName(one.Lhs[0]) == "resource" {
		r.resource = text
	}
	entry, ok := one.Lhs[0].(*ast.IndexExpr)
	if !ok || !strings.HasSuffix(strings.ToLower(lastName(entry.X)), "storage") &&
		lastName(entry.X) != "restStorageMap" {
		return
	}
	found := r.target
	found.plural, found.subresource, _ = strings.Cut(r.key(entry.Index), "/")
	r.out[found] = gate
}

// key evaluates "pods/resize", resource and resource+"/resize".
func (r *registrations) key(expression ast.Expr) string {
	switch one := expression.(type) {
	case *ast.Ident:
		return r.resource
	case *ast.BinaryExpr:
		return r.key(one.X) + r.key(one.Y)
	}
	return literal(expression)
}

func literal(expression ast.Expr) string {
	if one, ok := expression.(*ast.BasicLit); ok && one.Kind == token.STRING {
		text, _ := strconv.Unquote(one.Value)
		return text
	}
	return ""
}

// gateAsked is the gate of a condition `….Enabled(features.Name)`, empty for any other condition.
func gateAsked(condition ast.Expr) string {
	call, ok := condition.(*ast.CallExpr)
	if !ok || lastName(call.Fun) != "Enabled" || len(call.Args) != 1 {
		return ""
	}
	return lastName(call.Args[0])
}
