package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A goPackage is what one versioned package declares.
type goPackage struct {
	file    string // the table's name, e.g. "core.v1"
	openAPI string // e.g. "io.k8s.api.core.v1"
	group   string
	version string
	minor   int
	types   map[string]*goType
	life    map[string]*lifecycle
	// Constants that are texts, by Go's name.
	constants map[string]string
	// Constants that are those of another package: AddressTypeIPv4 → core.v1.IPv4Protocol.
	sameAs map[string]string
	// Constants made by a conversion, by the name of their type: PathType → PathTypeExact.
	converted map[string][]string
	rules     *ruleTable
}

// A goType is a struct with fields, a union (a struct JSON writes as one of its members) or a name for another type.
type goType struct {
	is       string // "struct", "union" or "name"
	of       string // for a name: the type it stands for
	message  bool   // for a name: protobuf wraps it into a message
	alias    bool   // for a name: Go's `type A = B`, so that errors speak of B
	enum     bool   // for a name: OpenAPI lists the values
	values   []string
	atomic   bool
	granular bool
	choosing bool   // marked as a union: one of the members is set
	chooses  string // the field that says which one, if there is such a field
	fields   []*goField
}

type goField struct {
	Name    string
	Type    string
	Number  int
	Flags   string
	Options map[string]any
	goName  string
}

type lifecycle struct {
	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// Types whose JSON is written by hand in Go, by import path and name.
var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                          "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                     "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                      "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                      "fieldsV1",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Fields":                        "fields",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                      "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                    "intOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                       "rawExtension",
	"k8s.io/apimachinery/pkg/runtime.Object":                             "any",
	"k8s.io/apimachinery/pkg/types.UID":                                  "uid",
	"k8s.io/apimachinery/pkg/types.NodeName":                             "nodeName",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":      "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1.JSON": "json",
	"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "int": "int64", "uint32": "uint32",
	"uint64": "uint64", "uint": "uint64", "float64": "float64", "byte": "byte", "interface{}": "any",
}

// readPackages parses every versioned package of the release.
func (t *oneRelease) readPackages() {
	dirs, _ := filepath.Glob(t.release.dir("api", "*", "v*"))
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.Base(filepath.Dir(dir)) != "testdata" {
			group, version := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
			t.readPackage(dir, "k8s.io/api/"+group+"/"+version)
		}
	}
	for module, paths := range map[string][]string{
		"apimachinery":            {"pkg/apis/meta/v1", "pkg/apis/meta/v1beta1", "pkg/version"},
		"apiextensions-apiserver": {"pkg/apis/apiextensions/v1", "pkg/apis/apiextensions/v1beta1"},
		"kube-aggregator":         {"pkg/apis/apiregistration/v1", "pkg/apis/apiregistration/v1beta1"},
	} {
		for _, path := range paths {
			dir := t.release.dir(module, path)
			if _, err := os.Stat(dir); err == nil {
				t.readPackage(dir, "k8s.io/"+module+"/"+path)
			}
		}
	}
}

// tableName turns an import path into a table's name: k8s.io/api/core/v1 → core.v1.
func tableName(importPath string) string {
	parts := strings.Split(importPath, "/")
	if last := parts[len(parts)-1]; last == "version" {
		return last
	}
	return parts[len(parts)-2] + "." + parts[len(parts)-1]
}

func (t *oneRelease) readPackage(dir, importPath string) {
	p := &goPackage{
		file:      tableName(importPath),
		openAPI:   "io.k8s." + strings.ReplaceAll(strings.TrimPrefix(importPath, "k8s.io/"), "/", "."),
		version:   filepath.Base(dir),
		minor:     t.release.minor,
		types:     map[string]*goType{},
		life:      map[string]*lifecycle{},
		constants: map[string]string{},
		sameAs:    map[string]string{},
		converted: map[string][]string{},
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseDir(files, dir, func(i os.FileInfo) bool {
		return !strings.HasSuffix(i.Name(), "_test.go") && i.Name() != "generated.pb.go"
	}, parser.ParseComments)
	check(err)
	values := map[string][]string{}
	for _, syntax := range parsed {
		names := make([]string, 0, len(syntax.Files))
		for name := range syntax.Files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			file := syntax.Files[name]
			readLifecycle(file, p.life)
			imports := importsOf(file)
			for _, declared := range file.Decls {
				general, ok := declared.(*ast.GenDecl)
				if !ok {
					continue
				}
				if general.Tok == token.CONST {
					readConstants(general, p, values, imports)
				}
				if general.Tok != token.TYPE || strings.HasPrefix(filepath.Base(name), "zz_") {
					continue
				}
				for _, spec := range general.Specs {
					readType(spec.(*ast.TypeSpec), general, p, importPath, imports)
				}
			}
		}
	}
	proto, _ := os.ReadFile(filepath.Join(dir, "generated.proto"))
	for name, one := range p.types {
		if one.is != "name" {
			continue
		}
		one.values = values[name]
		for _, constant := range p.converted[name] {
			if text, ok := t.textOf(p, constant); ok && one.enum {
				one.values = append(one.values, text)
			}
		}
		one.message = strings.Contains(string(proto), "\nmessage "+name+" {")
	}
	t.packages[p.file] = p
	for name, one := range p.types {
		for _, field := range one.fields {
			t.resolveDefault(p, name, field)
		}
	}
}

var constantDefault = regexp.MustCompile(`^ref\((.*)\)$`)

// resolveDefault replaces a default that names a constant with its text: ref(AzureSharedBlobDisk) → Shared.
func (t *oneRelease) resolveDefault(p *goPackage, name string, field *goField) {
	written, _ := field.Options["default"].(string)
	m := constantDefault.FindStringSubmatch(written)
	if m == nil {
		return
	}
	text, ok := t.textOf(p, m[1])
	if !ok {
		check(fmt.Errorf("1.%d: the default of %s %s.%s names an unknown constant %s", p.minor, p.file, name, field.Name, m[1]))
	}
	field.Options["default"] = text
}

// textOf is the text of a constant, which can be that of a constant of a package read before.
func (t *oneRelease) textOf(p *goPackage, constant string) (string, bool) {
	if text, ok := p.constants[constant]; ok {
		return text, true
	}
	other := p.sameAs[constant]
	dot := strings.LastIndex(other, ".")
	if dot < 0 || t.packages[other[:dot]] == nil {
		return "", false
	}
	text, ok := t.packages[other[:dot]].constants[other[dot+1:]]
	return text, ok
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, one := range file.Imports {
		path, _ := strconv.Unquote(one.Path.Value)
		name := filepath.Base(path)
		if one.Name != nil {
			name = one.Name.Name
		}
		imports[name] = path
	}
	return imports
}

// readConstants notes the group's name and the values declared for named string types.
func readConstants(general *ast.GenDecl, p *goPackage, values map[string][]string, imports map[string]string) {
	for _, spec := range general.Specs {
		value := spec.(*ast.ValueSpec)
		if len(value.Values) != 1 {
			continue
		}
		expression := value.Values[0]
		if call, ok := expression.(*ast.CallExpr); ok && len(call.Args) == 1 {
			expression = call.Args[0]
			if named, ok := call.Fun.(*ast.Ident); ok {
				p.converted[named.Name] = append(p.converted[named.Name], value.Names[0].Name)
			}
		}
		if other, ok := expression.(*ast.SelectorExpr); ok {
			p.sameAs[value.Names[0].Name] = tableName("/"+imports[lastName(other.X)]) + "." + other.Sel.Name
		}
		literal, ok := expression.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		text, _ := strconv.Unquote(literal.Value)
		p.constants[value.Names[0].Name] = text
		if expression != value.Values[0] {
			continue
		}
		if value.Names[0].Name == "GroupName" {
			p.group = text
		}
		if named, ok := value.Type.(*ast.Ident); ok && named.Name != "string" {
			values[named.Name] = append(values[named.Name], text)
		}
	}
}

func readType(spec *ast.TypeSpec, general *ast.GenDecl, p *goPackage, importPath string, imports map[string]string) {
	if _, hand := scalars[importPath+"."+spec.Name.Name]; hand || !spec.Name.IsExported() {
		return
	}
	marks := markers(general.Doc, spec.Doc)
	switch shape := spec.Type.(type) {
	case *ast.StructType:
		one := &goType{is: "struct"}
		mapType := first(append(marks["mapType"], marks["structType"]...))
		one.atomic, one.granular = mapType == "atomic", mapType == "granular"
		_, one.choosing = marks["union"]
		byHand := true
		for _, field := range shape.Fields.List {
			tag := tagOf(field)
			if _, ok := tag.Lookup("json"); ok {
				byHand = false
			}
		}
		if byHand && len(shape.Fields.List) > 0 {
			if first(marks["k8s:deepcopy-gen"]) == "-" || !hasProtobuf(shape) {
				return
			}
			one.is = "union"
		}
		for _, field := range shape.Fields.List {
			if row := readField(field, p, importPath, imports, one.is == "union"); row != nil {
				one.fields = append(one.fields, row)
				if _, ok := markers(field.Doc)["unionDiscriminator"]; ok && one.choosing {
					one.chooses = row.Name
				}
			}
		}
		p.types[spec.Name.Name] = one
	case *ast.InterfaceType, *ast.FuncType:
	default:
		if of := typeExpression(shape, importPath, imports); of != "" {
			_, enum := marks["enum"]
			p.types[spec.Name.Name] = &goType{is: "name", of: of, alias: spec.Assign.IsValid(), enum: enum}
		}
	}
}

func hasProtobuf(shape *ast.StructType) bool {
	for _, field := range shape.Fields.List {
		if _, ok := tagOf(field).Lookup("protobuf"); ok {
			return true
		}
	}
	return false
}

func tagOf(field *ast.Field) reflect.StructTag {
	if field.Tag == nil {
		return ""
	}
	text, _ := strconv.Unquote(field.Tag.Value)
	return reflect.StructTag(text)
}

// requiredMarkSince is the release from which OpenAPI lists a field marked as required that has omitempty.
const requiredMarkSince = 30

// readField makes the row of one field; nil when neither JSON nor protobuf writes it.
func readField(field *ast.Field, p *goPackage, importPath string, imports map[string]string, union bool) *goField {
	tag := tagOf(field)
	jsonTag := strings.Split(tag.Get("json"), ",")
	if jsonTag[0] == "-" || (len(field.Names) > 0 && !field.Names[0].IsExported()) {
		return nil
	}
	row := &goField{Name: jsonTag[0], Options: map[string]any{}}
	if len(field.Names) > 0 {
		row.goName = field.Names[0].Name
	}
	marks := markers(field.Doc)
	flags := map[byte]bool{}
	for _, word := range jsonTag[1:] {
		flags['o'] = flags['o'] || word == "omitempty"
		flags['i'] = flags['i'] || word == "inline"
		flags['z'] = flags['z'] || word == "omitzero"
	}
	shape := field.Type
	if pointer, ok := shape.(*ast.StarExpr); ok {
		flags['p'] = true
		shape = pointer.X
	}
	row.Type = typeExpression(shape, importPath, imports)
	if row.Type == "" {
		return nil
	}
	wire := strings.Split(tag.Get("protobuf"), ",")
	if len(wire) > 1 {
		row.Number, _ = strconv.Atoi(wire[1])
	}
	if union {
		for _, word := range wire {
			if name, ok := strings.CutPrefix(word, "name="); ok {
				row.Name = name
			}
		}
	} else if row.Name == "" {
		flags['i'] = true
	}
	_, optional := marks["optional"]
	_, nullable := marks["nullable"]
	_, required := marks["required"]
	required = required && p.minor >= requiredMarkSince
	flags['r'] = !flags['i'] && !union && (required || (!flags['o'] && !optional))
	flags['n'] = nullable
	for _, letter := range "iozpnr" {
		if flags[byte(letter)] {
			row.Flags += string(letter)
		}
	}
	option(row, "listType", first(marks["listType"]))
	if keys := marks["listMapKey"]; len(keys) > 0 {
		row.Options["listMapKeys"] = keys
	}
	option(row, "mapType", first(append(marks["mapType"], marks["structType"]...)))
	option(row, "patchStrategy", tag.Get("patchStrategy"))
	option(row, "patchMergeKey", tag.Get("patchMergeKey"))
	option(row, "gate", first(marks["featureGate"]))
	if text, ok := marks["default"]; ok {
		row.Options["default"] = rawJSON(text[0])
	}
	return row
}

func option(row *goField, name, value string) {
	if value != "" {
		row.Options[name] = value
	}
}

// typeExpression writes a Go type the way the tables do; empty for what has no JSON form.
func typeExpression(shape ast.Expr, importPath string, imports map[string]string) string {
	switch one := shape.(type) {
	case *ast.StarExpr:
		return typeExpression(one.X, importPath, imports)
	case *ast.ArrayType:
		items := typeExpression(one.Elt, importPath, imports)
		if items == "byte" {
			return "bytes"
		}
		return prefixed("[]", items)
	case *ast.MapType:
		return prefixed("{}", typeExpression(one.Value, importPath, imports))
	case *ast.InterfaceType:
		return "any"
	case *ast.Ident:
		if scalar, ok := scalars[one.Name]; ok {
			return scalar
		}
		if scalar, ok := scalars[importPath+"."+one.Name]; ok {
			return scalar
		}
		return one.Name
	case *ast.SelectorExpr:
		path := imports[one.X.(*ast.Ident).Name]
		if scalar, ok := scalars[path+"."+one.Sel.Name]; ok {
			return scalar
		}
		if !strings.HasPrefix(path, "k8s.io/api") && !strings.HasPrefix(path, "k8s.io/kube-aggregator/pkg/apis") {
			return ""
		}
		if strings.HasPrefix(path, "k8s.io/apimachinery/") && !strings.HasPrefix(path, "k8s.io/apimachinery/pkg/apis/meta/") {
			if one.Sel.Name != "Event" { // an internal type of watches, without a JSON form
				check(fmt.Errorf("%s: the tables have no word for %s.%s", importPath, path, one.Sel.Name))
			}
			return ""
		}
		return tableName(path) + "." + one.Sel.Name
	}
	return ""
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// markers collects "+name=value" comments.
func markers(groups ...*ast.CommentGroup) map[string][]string {
	out := map[string][]string{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if !strings.HasPrefix(text, "+") {
				continue
			}
			name, value, _ := strings.Cut(text[1:], "=")
			out[strings.TrimSpace(name)] = append(out[strings.TrimSpace(name)], strings.TrimSpace(value))
		}
	}
	return out
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// readLifecycle reads the releases in which a kind was introduced, deprecated and removed, and what replaces it.
func readLifecycle(file *ast.File, into map[string]*lifecycle) {
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Recv == nil || !strings.HasPrefix(function.Name.Name, "APILifecycle") {
			continue
		}
		kind := function.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
		if into[kind] == nil {
			into[kind] = &lifecycle{}
		}
		results := function.Body.List[0].(*ast.ReturnStmt).Results
		switch function.Name.Name {
		case "APILifecycleIntroduced":
			into[kind].Introduced = joined(results, ".")
		case "APILifecycleDeprecated":
			into[kind].Deprecated = joined(results, ".")
		case "APILifecycleRemoved":
			into[kind].Removed = joined(results, ".")
		case "APILifecycleReplacement":
			var parts []ast.Expr
			for _, element := range results[0].(*ast.CompositeLit).Elts {
				parts = append(parts, element.(*ast.KeyValueExpr).Value)
			}
			into[kind].Replacement = joined(parts, "/")
		}
	}
}

func joined(expressions []ast.Expr, with string) string {
	var parts []string
	for _, one := range expressions {
		literal := one.(*ast.BasicLit)
		text := literal.Value
		if literal.Kind == token.STRING {
			text, _ = strconv.Unquote(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, with)
}
