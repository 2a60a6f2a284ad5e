package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Declarative validation: from 1.37 on, kube-apiserver enforces most of what tags on the fields say. The modules hold
// the functions that Go's generator made from the tags. Their calls, read in order, are the rules of this table.

// The first release whose rules are enforced rather than compared.
const rulesSince = 37

// A ruleTable holds the rules of one package: the kinds that are validated, and each type's steps.
type ruleTable struct {
	kinds map[string][]string // kind → subresources that run the rules, "" for the object itself
	types map[string][]any    // type → steps
}

// readRules reads the generated functions of every versioned package of the release.
func (t *oneRelease) readRules() {
	if t.release.minor < rulesSince {
		return
	}
	paths, _ := filepath.Glob(t.release.dir("kubernetes", "pkg/apis/*/*/zz_generated.validations.go"))
	enough(t.release, "files of generated validations", len(paths), 0)
	paths = append(paths, t.release.dir("apimachinery", "pkg/apis/meta/v1/validation/zz_generated.validations.go"))
	for _, path := range paths {
		t.readRuleFile(path)
	}
	for t.dropShadowed() {
	}
}

// A ruleReader reads one generated file.
type ruleReader struct {
	t       *oneRelease
	p       *goPackage
	imports map[string]string
	vars    map[string]ast.Expr
	where   string
}

func (t *oneRelease) readRuleFile(path string) {
	bytes, err := os.ReadFile(path)
	check(err)
	file, err := parser.ParseFile(token.NewFileSet(), path, bytes, 0)
	check(err)
	dir := filepath.Dir(path)
	p := t.packages[tableName(strings.TrimSuffix(dir, "/validation"))]
	if p == nil {
		return
	}
	r := &ruleReader{t: t, p: p, imports: importsOf(file), vars: map[string]ast.Expr{}}
	table := &ruleTable{kinds: map[string][]string{}, types: map[string][]any{}}
	for _, declared := range file.Decls {
		if general, ok := declared.(*ast.GenDecl); ok && general.Tok == token.VAR {
			for _, spec := range general.Specs {
				value := spec.(*ast.ValueSpec)
				r.vars[value.Names[0].Name] = value.Values[0]
			}
		}
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		r.where = path + ": " + function.Name.Name
		if function.Name.Name == "RegisterValidations" {
			table.kinds = r.kinds(function)
		} else if name, ok := strings.CutPrefix(function.Name.Name, "Validate_"); ok {
			table.types[name] = r.steps(function.Body.List)
		}
	}
	p.rules = table
}

func (r *ruleReader) fail(what string, args ...any) {
	check(fmt.Errorf("1.%d: %s: %s", r.t.release.minor, r.where, fmt.Sprintf(what, args...)))
}

// kinds reads which subresources of a kind run the rules: case "/", "/status".
func (r *ruleReader) kinds(function *ast.FuncDecl) map[string][]string {
	out := map[string][]string{}
	ast.Inspect(function, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || lastName(call.Fun) != "AddValidationFunc" {
			return true
		}
		kind := lastName(call.Args[0].(*ast.CallExpr).Fun.(*ast.ParenExpr).X.(*ast.StarExpr).X)
		ast.Inspect(call.Args[1], func(node ast.Node) bool {
			if clause, ok := node.(*ast.CaseClause); ok {
				for _, one := range clause.List {
					out[kind] = append(out[kind], strings.TrimPrefix(literal(one), "/"))
				}
			}
			return true
		})
		return false
	})
	return out
}

// steps reads the statements of a function body. A step is a list: its name, its mark, its arguments.
func (r *ruleReader) steps(list []ast.Stmt) []any {
	out := []any{}
	for _, statement := range list {
		switch one := statement.(type) {
		case *ast.BlockStmt:
			out = append(out, r.field(one))
		case *ast.IfStmt:
			if assigned, ok := one.Init.(*ast.AssignStmt); ok {
				mark := ""
				if assigns(one.Body, "earlyReturn") {
					mark = "s"
				}
				if !assigns(one.Body, "errs") {
					mark += "q"
				}
				out = append(out, r.call(assigned.Rhs[0].(*ast.CallExpr), mark))
			} else if !isRatchet(one) && !isStop(one) {
				r.fail("a condition of no known form")
			}
		case *ast.AssignStmt:
			if call, ok := one.Rhs[0].(*ast.CallExpr); ok && lastName(call.Fun) == "append" {
				if inner, ok := call.Args[1].(*ast.CallExpr); ok {
					out = append(out, r.call(inner, ""))
				}
			}
		case *ast.ExprStmt:
			call := one.X.(*ast.CallExpr)
			out = append(out, []any{"group", "", r.steps(call.Fun.(*ast.FuncLit).Body.List)})
		case *ast.ReturnStmt:
			if len(one.Results) == 1 {
				if call, ok := one.Results[0].(*ast.CallExpr); ok {
					out = append(out, r.call(call, ""))
				}
			}
		default:
			r.fail("a statement of no known form: %T", statement)
		}
	}
	return out
}

// field reads one block: a function with the field's rules, and its call, which names the field.
func (r *ruleReader) field(block *ast.BlockStmt) []any {
	body := block.List[0].(*ast.AssignStmt).Rhs[0].(*ast.FuncLit).Body
	call := block.List[len(block.List)-1].(*ast.AssignStmt).Rhs[0].(*ast.CallExpr).Args[1].(*ast.CallExpr)
	steps := r.steps(body.List)
	name := "" // a struct that is inlined has its fields at the same path
	if path := call.Args[0].(*ast.CallExpr); lastName(path.Fun) == "Child" {
		name = literal(path.Args[0])
	}
	if len(steps) > 0 && !ratchets(body.List) {
		r.fail("the field %s is checked even where it has not changed", name)
	}
	return []any{"field", name, steps}
}

func ratchets(list []ast.Stmt) bool {
	for _, statement := range list {
		if one, ok := statement.(*ast.IfStmt); ok && isRatchet(one) {
			return true
		}
	}
	return false
}

// isRatchet: if oldValueCorrelated && op.Type == operation.Update {…}
func isRatchet(one *ast.IfStmt) bool {
	binary, ok := one.Cond.(*ast.BinaryExpr)
	return ok && lastName(binary.X) == "oldValueCorrelated"
}

// isStop: if earlyReturn { return }
func isStop(one *ast.IfStmt) bool { return lastName(one.Cond) == "earlyReturn" }

func assigns(body *ast.BlockStmt, name string) bool {
	for _, statement := range body.List {
		if one, ok := statement.(*ast.AssignStmt); ok && lastName(one.Lhs[0]) == name {
			return true
		}
	}
	return false
}

// call reads one check. In its mark, "a" or "b" is its stage, "s" says that its failure ends the checks of the field,
// "q" that the failure is no error.
func (r *ruleReader) call(call *ast.CallExpr, mark string) []any {
	for {
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(selector.Sel.Name, "Mark") {
			break
		}
		switch selector.Sel.Name {
		case "MarkAlpha":
			mark = "a" + mark
		case "MarkBeta":
			mark = "b" + mark
		case "MarkShortCircuit":
		default:
			r.fail("the mark %s is not known", selector.Sel.Name)
		}
		call = selector.X.(*ast.CallExpr)
	}
	step := r.function(call.Fun, mark)
	if len(call.Args) < 5 {
		r.fail("a check without an object")
	}
	return r.arguments(step, call.Args[5:])
}

// function names a check: validate.LongName, Validate_Device or validation.Validate_ObjectMeta.
func (r *ruleReader) function(expression ast.Expr, mark string) []any {
	name := lastName(expression)
	of := ""
	if selector, ok := expression.(*ast.SelectorExpr); ok {
		of = r.imports[lastName(selector.X)]
	}
	if of == "k8s.io/apimachinery/pkg/api/validate" {
		if name == "UUID" {
			return []any{"uuid", mark}
		}
		return []any{strings.ToLower(name[:1]) + name[1:], mark}
	}
	if custom, ok := strings.CutPrefix(name, "ValidateCustom_"); ok {
		return []any{"custom", mark, custom}
	}
	if one, ok := strings.CutPrefix(name, "Validate_"); ok {
		switch {
		case of == "":
		case strings.HasSuffix(of, "/meta/v1/validation"):
			one = "meta.v1." + one
		default:
			one = tableName(of) + "." + one
		}
		return []any{"type", mark, one}
	}
	r.fail("a check of no known form: %s", name)
	return nil
}

// arguments adds what follows the object in a call.
func (r *ruleReader) arguments(step []any, list []ast.Expr) []any {
	for _, one := range list {
		step = append(step, r.argument(one))
	}
	return step
}

func (r *ruleReader) argument(expression ast.Expr) any {
	switch one := expression.(type) {
	case *ast.BasicLit:
		if one.Kind == token.STRING {
			return literal(one)
		}
		number, err := strconv.ParseInt(one.Value, 10, 64)
		check(err)
		return number
	case *ast.UnaryExpr:
		return -r.argument(one.X).(int64)
	case *ast.Ident:
		switch one.Name {
		case "nil":
			return nil
		case "true", "false":
			return one.Name == "true"
		}
		if value, ok := r.vars[one.Name]; ok {
			return r.argument(value)
		}
		return []any{r.function(one, "")}
	case *ast.SelectorExpr:
		return r.selected(one)
	case *ast.CallExpr:
		return r.made(one)
	case *ast.FuncLit:
		return r.closure(one)
	case *ast.CompositeLit:
		return r.composite(one)
	}
	r.fail("an argument of no known form: %T", expression)
	return nil
}

// selected reads a name of another package: a check, an update constraint, or a constant.
func (r *ruleReader) selected(one *ast.SelectorExpr) any {
	of := r.imports[lastName(one.X)]
	if of == "k8s.io/apimachinery/pkg/api/validate" {
		switch name := one.Sel.Name; name {
		case "DirectEqual", "SemanticDeepEqual":
			return "equal"
		case "NoSet", "NoUnset", "NoModify", "NoAddItem", "NoRemoveItem":
			return strings.ToLower(name[:1]) + name[1:]
		}
		return []any{r.function(one, "")}
	}
	if strings.HasPrefix(one.Sel.Name, "Validate_") {
		return []any{r.function(one, "")}
	}
	if text, ok := r.t.constant(tableName(of), one.Sel.Name); ok {
		return text
	}
	r.fail("no constant %s.%s", of, one.Sel.Name)
	return nil
}

func (t *oneRelease) constant(file, name string) (string, bool) {
	p := t.packages[file]
	if p == nil {
		return "", false
	}
	if other, ok := p.sameAs[name]; ok {
		dot := strings.LastIndex(other, ".")
		return t.constant(other[:dot], other[dot+1:])
	}
	text, ok := p.constants[name]
	return text, ok
}

// made reads sets.New(…), validate.NewUnionMembership(…) and validate.NewDiscriminatedUnionMembership(…).
func (r *ruleReader) made(one *ast.CallExpr) any {
	out := []any{}
	switch lastName(one.Fun) {
	case "NewUnionMember", "NewDiscriminatedUnionMember":
		return literal(one.Args[0])
	case "New", "NewUnionMembership":
		for _, argument := range one.Args {
			out = append(out, r.argument(argument))
		}
		return out
	}
	r.fail("a call of no known form: %s", lastName(one.Fun))
	return nil
}

// composite reads the rules of a discriminated field: {Value: "Queue", Validation: func…}.
func (r *ruleReader) composite(one *ast.CompositeLit) any {
	out := []any{}
	for _, element := range one.Elts {
		rule, ok := element.(*ast.CompositeLit)
		if !ok {
			r.fail("a list of no known form")
		}
		row := []any{}
		for _, pair := range rule.Elts {
			row = append(row, r.argument(pair.(*ast.KeyValueExpr).Value))
		}
		out = append(out, row)
	}
	return out
}

// closure reads a function literal: a match of items, the value of a field, whether a field is set, or more checks.
func (r *ruleReader) closure(one *ast.FuncLit) any {
	params := one.Type.Params.List
	if lastName(firstParam(params)) == "Context" {
		return r.steps(one.Body.List)
	}
	of := params[0].Type
	last, ok := one.Body.List[len(one.Body.List)-1].(*ast.ReturnStmt)
	if !ok {
		r.fail("a function that returns nothing")
	}
	if list, ok := of.(*ast.ArrayType); ok {
		return r.itemIsThere(list, one)
	}
	return r.value(of, last.Results[0])
}

func firstParam(params []*ast.Field) ast.Expr {
	if len(params) == 0 {
		return nil
	}
	return params[0].Type
}

// value reads what a function of an object returns: keys that match, a field, or whether the field is set.
func (r *ruleReader) value(of, result ast.Expr) any {
	switch one := result.(type) {
	case *ast.UnaryExpr:
		return r.value(of, one.X)
	case *ast.ParenExpr:
		return r.value(of, one.X)
	case *ast.SelectorExpr:
		return r.jsonName(of, one.Sel.Name)
	case *ast.BinaryExpr:
		if one.Op == token.LAND {
			return append(r.value(of, one.X).([]any), r.value(of, one.Y).([]any)...)
		}
		if one.Op == token.LOR { // both nil, or both set and equal
			return []any{r.jsonName(of, firstField(one))}
		}
		if one.Op == token.EQL {
			if field, ok := one.X.(*ast.SelectorExpr); ok {
				return []any{r.jsonName(of, field.Sel.Name)}
			}
			return "equal" // *a == *b
		}
		if call, ok := one.X.(*ast.CallExpr); ok && lastName(call.Fun) == "len" {
			return r.value(of, call.Args[0])
		}
		if lastName(one.Y) == "nil" {
			return r.value(of, one.X)
		}
		// A value that is not zero is marked, for a pointer to zero is set.
		return "=" + r.value(of, one.X).(string)
	}
	r.fail("a result of no known form: %T", result)
	return nil
}

func firstField(expression ast.Expr) (name string) {
	ast.Inspect(expression, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && name == "" {
			name = selector.Sel.Name
		}
		return name == ""
	})
	return name
}

// itemIsThere reads whether a list has an item: list[i].Type == "Approved".
func (r *ruleReader) itemIsThere(list *ast.ArrayType, one *ast.FuncLit) any {
	var out any
	ast.Inspect(one.Body, func(node ast.Node) bool {
		condition, ok := node.(*ast.IfStmt)
		if !ok {
			return true
		}
		binary := condition.Cond.(*ast.BinaryExpr)
		out = []any{r.jsonName(list.Elt, lastName(binary.X)), r.argument(binary.Y)}
		return false
	})
	if out == nil {
		r.fail("a list without a condition")
	}
	return out
}

func (r *ruleReader) jsonName(of ast.Expr, goName string) string {
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	selector, ok := of.(*ast.SelectorExpr)
	if !ok {
		r.fail("no package for %s", goName)
	}
	if one := r.t.typeOf(tableName(r.imports[lastName(selector.X)]), selector.Sel.Name); one != nil {
		for _, f := range one.fields {
			if f.goName == goName {
				return f.Name
			}
		}
	}
	r.fail("no field %s", goName)
	return ""
}
