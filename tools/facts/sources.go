package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sources holds what only kube-apiserver's own code says: names, storage and what is off by default.
type sources struct {
	groups       map[string]string              // directory of pkg/apis → group
	priorities   map[string][2]int              // "group/version" → group and version priority in /apis
	preferred    map[string]string              // group → version it is stored in
	order        map[string][]string            // group → its versions, the preferred first
	careful      bool                           // a version is stored only when the release before can read it
	skipReplaced bool                           // ... and is not itself replaced
	skipAlpha    bool                           // ... and is not alpha
	overrides    map[string]string              // "group/plural" → version it is stored in
	cohabit      map[string]string              // "group/plural" → the "group/plural" it is stored as
	prefixes     map[string]string              // "group/plural" → storage prefix
	versionsOff  map[string]bool                // "group/version"
	resourcesOff map[string]bool                // "group/version/plural"
	resourcesOn  map[string]bool                // "group/version/plural": on although its version is off
	names        map[string]map[string][]string // plural → ShortNames and Categories
	noCategories map[string]bool                // "group/plural" served without categories
	returns      map[string]string              // plural → whether a deletion is answered with the object, as Go says it
}

var (
	importLine      = regexp.MustCompile(`(?m)^\s+(\w+ )?"(k8s\.io/[^"]+)"`)
	priorityLine    = regexp.MustCompile(`\{Group: "([^"]*)", Version: "([^"]*)"\}:\s+\{(?i:group): (\d+), (?i:version): (\d+)\}`)
	versionPriority = regexp.MustCompile(`SetVersionPriority\(([^)]*)\)`)
	overrideLine    = regexp.MustCompile(`(\w+)\.Resource\("(\w+)"\)\.WithVersion\("(\w+)"\)`)
	cohabitLine     = regexp.MustCompile(`AddCohabitatingResources\((\w+)\.Resource\("(\w+)"\), (\w+)\.Resource\("(\w+)"\)`)
	prefixLine      = regexp.MustCompile(`\{Group: "([^"]*)", Resource: "([^"]*)"\}:\s+"([^"]+)"`)
	disableCall     = regexp.MustCompile(`(?s)\.Disable(Versions|Resources)\((.*?)\n\t\)`)
	schemeVersion   = regexp.MustCompile(`(\w+)\.SchemeGroupVersion(?:\.WithResource\("(\w+)"\))?`)
	qualified       = regexp.MustCompile(`(?:DefaultQualifiedResource:|resource :=|var groupResource =)\s+\w+\.Resource\("(\w+)"\)`)
	namesFunction   = regexp.MustCompile(`(?s)func \(\w+ \*\w+\) (ShortNames|Categories)\(\) \[\]string \{\s+return (.*?)\n\}`)
	wideCategories  = regexp.MustCompile(`REST\{store, \[\]string\{([^}]*)\}`)
	encodeVersioner = regexp.MustCompile(`NewMultiGroupVersioner\((\w+)\.SchemeGroupVersion`)
	offList         = regexp.MustCompile(`(?s)(?:\w+DisabledByDefault|alpha\w+Disabled\w*)\s*=\s*\[\]schema\.GroupVersion\{(.*?)\n\t?\}`)
	onList          = regexp.MustCompile(`(?s)legacyBetaEnabledByDefaultResources\s*=\s*\[\]schema\.GroupVersionResource\{(.*?)\n\t?\}`)
	lineComment     = regexp.MustCompile(`(?m)^\s*//.*$`)
	nilCategories   = regexp.MustCompile(`storage\["(\w+)"\] = .*WithCategories\(nil\)`)
	returnsDeleted  = regexp.MustCompile(`ReturnDeletedObject:\s+(.+),`)
	quoted          = regexp.MustCompile(`"([^"]+)"`)
)

func (t *oneRelease) readSources() *sources {
	s := &sources{
		groups: map[string]string{}, priorities: map[string][2]int{}, preferred: map[string]string{},
		overrides: map[string]string{}, cohabit: map[string]string{}, prefixes: map[string]string{},
		versionsOff: map[string]bool{}, resourcesOff: map[string]bool{}, resourcesOn: map[string]bool{},
		names: map[string]map[string][]string{}, noCategories: map[string]bool{}, returns: map[string]string{},
		order: map[string][]string{},
	}
	for file, p := range t.packages {
		s.groups[strings.Split(file, ".")[0]] = p.group
	}
	// From 1.31 on the groups that other control planes share have a list of their own.
	text := t.release.text("kubernetes", "pkg/controlplane/apiserver/aggregator.go") +
		t.source("kubernetes", "cmd/kube-apiserver/app/aggregator.go")
	for _, m := range priorityLine.FindAllStringSubmatch(text, -1) {
		group, _ := strconv.Atoi(m[3])
		version, _ := strconv.Atoi(m[4])
		s.priorities[m[1]+"/"+m[2]] = [2]int{group, version}
	}
	s.readStorageVersions(t)
	s.readDefaults(t)
	s.readNames(t)
	return s
}

func (t *oneRelease) source(module string, paths ...string) string {
	for _, path := range paths {
		if bytes, err := os.ReadFile(t.release.dir(module, path)); err == nil {
			return string(bytes)
		}
	}
	check(fmt.Errorf("1.%d: %s has none of the files %v", t.release.minor, module, paths))
	return ""
}

// aliases maps the names a file gives its imports to their paths.
func aliases(text string) map[string]string {
	out := map[string]string{}
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(m[1])
		if name == "" {
			name = filepath.Base(m[2])
		}
		out[name] = m[2]
	}
	return out
}

func (s *sources) readStorageVersions(t *oneRelease) {
	installs, _ := filepath.Glob(t.release.dir("kubernetes", "pkg/apis/*/install/install.go"))
	installs = append(installs,
		t.release.dir("apiextensions-apiserver", "pkg/apis/apiextensions/install/install.go"),
		t.release.dir("kube-aggregator", "pkg/apis/apiregistration/install/install.go"))
	for _, path := range installs {
		bytes, err := os.ReadFile(path)
		check(err)
		call := versionPriority.FindStringSubmatch(string(bytes))
		if call == nil {
			continue
		}
		names := aliases(string(bytes))
		group := s.groups[filepath.Base(filepath.Dir(filepath.Dir(path)))]
		for _, m := range schemeVersion.FindAllStringSubmatch(call[1], -1) {
			s.order[group] = append(s.order[group], filepath.Base(names[m[1]]))
		}
		s.preferred[group] = s.order[group][0]
	}
	for group, path := range map[string]string{
		"apiextensions.k8s.io": "apiextensions.go", "apiregistration.k8s.io": "aggregator.go",
	} {
		text := t.release.text("kubernetes", "pkg/controlplane/apiserver/"+path)
		if !encodeVersioner.MatchString(text) {
			text = t.source("kubernetes", "cmd/kube-apiserver/app/"+path)
		}
		if m := encodeVersioner.FindStringSubmatch(text); m != nil {
			s.preferred[group] = filepath.Base(aliases(text)[m[1]])
		}
	}
	choice := t.release.text("apiserver", "pkg/server/storage/resource_encoding_config.go")
	s.careful = strings.Contains(choice, "func emulatedStorageVersion(")
	s.skipReplaced = strings.Contains(choice, ".(replacementInterface)")
	s.skipAlpha = strings.Contains(choice, `strings.Contains(gv.Version, "alpha")`)
	text := lineComment.ReplaceAllString(t.source("kubernetes", "pkg/kubeapiserver/default_storage_factory_builder.go"), "")
	names := aliases(text)
	group := func(alias string) string { return s.groups[filepath.Base(names[alias])] }
	for _, m := range overrideLine.FindAllStringSubmatch(text, -1) {
		s.overrides[group(m[1])+"/"+m[2]] = m[3]
	}
	for _, m := range cohabitLine.FindAllStringSubmatch(text, -1) {
		s.cohabit[group(m[3])+"/"+m[4]] = group(m[1]) + "/" + m[2]
	}
	for _, m := range prefixLine.FindAllStringSubmatch(text, -1) {
		s.prefixes[m[1]+"/"+m[2]] = m[3]
	}
}

func (s *sources) readDefaults(t *oneRelease) {
	text := lineComment.ReplaceAllString(
		t.source("kubernetes", "pkg/master/master.go", "pkg/controlplane/instance.go"), "")
	names := aliases(text)
	mark := func(list string, versions, resources map[string]bool) {
		for _, m := range schemeVersion.FindAllStringSubmatch(list, -1) {
			p := t.packages[tableName(names[m[1]])]
			if p == nil {
				check(fmt.Errorf("1.%d: no package for %s in the list of default versions", t.release.minor, m[1]))
			}
			if m[2] == "" {
				versions[p.group+"/"+p.version] = true
			} else {
				resources[p.group+"/"+p.version+"/"+m[2]] = true
			}
		}
	}
	for _, call := range disableCall.FindAllStringSubmatch(text, -1) {
		mark(call[2], s.versionsOff, s.resourcesOff)
	}
	// Later releases keep the lists in variables.
	for _, list := range offList.FindAllStringSubmatch(text, -1) {
		mark(list[1], s.versionsOff, s.resourcesOff)
	}
	for _, list := range onList.FindAllStringSubmatch(text, -1) {
		mark(list[1], s.versionsOff, s.resourcesOn)
	}
}

// readNames finds short names and categories beside the storage of each resource.
func (s *sources) readNames(t *oneRelease) {
	var roots []string
	for _, root := range []string{
		t.release.dir("kubernetes", "pkg/registry"), t.release.dir("apiextensions-apiserver", "pkg/registry"),
		t.release.dir("kube-aggregator", "pkg/registry"),
	} {
		filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				roots = append(roots, path)
			}
			return nil
		})
	}
	for _, path := range roots {
		bytes, _ := os.ReadFile(path)
		text := string(bytes)
		if value := returnsDeleted.FindStringSubmatch(text); value != nil {
			m := qualified.FindStringSubmatch(text)
			if m == nil {
				check(fmt.Errorf("1.%d: %s returns what it deletes, but of which resource?", t.release.minor, path))
			}
			s.returns[m[1]] = value[1]
		}
		functions := namesFunction.FindAllStringSubmatch(text, -1)
		if len(functions) == 0 {
			continue
		}
		plural := ""
		if m := qualified.FindStringSubmatch(text); m != nil {
			plural = m[1]
		} else if strings.Contains(path, "/componentstatus/") {
			plural = "componentstatuses"
		} else {
			continue
		}
		if s.names[plural] == nil {
			s.names[plural] = map[string][]string{}
		}
		for _, m := range functions {
			from := m[2]
			if wide := wideCategories.FindStringSubmatch(text); wide != nil && m[1] == "Categories" {
				from = wide[1]
			}
			var list []string
			for _, q := range quoted.FindAllStringSubmatch(from, -1) {
				list = append(list, q[1])
			}
			s.names[plural][m[1]] = list
		}
	}
	bytes, err := os.ReadFile(t.release.dir("kubernetes", "pkg/registry/extensions/rest/storage_extensions.go"))
	if err == nil {
		for _, m := range nilCategories.FindAllStringSubmatch(string(bytes), -1) {
			s.noCategories["extensions/"+m[1]] = true
		}
	}
}

// servicesReturnedSince is the release from which the deletion of a service returns it. Earlier releases delete it
// through a wrapper that answers with a status.
const servicesReturnedSince = 23

// deletionsDocumentedSince is the release from which the OpenAPI document says which deletions return the object.
const deletionsDocumentedSince = 18

// returnsDeleted is whether the deletion of an object returns it. Where the versions of a resource differ, its storage
// has a variable, and only the OpenAPI document says what each version does.
func (s *sources) returnsDeleted(t *oneRelease, one *resource) bool {
	source, documented := s.returns[one.Plural], one.deletedAs != "" && one.deletedAs != "Status"
	returns := source == "true" && (one.Plural != "services" || t.release.minor >= servicesReturnedSince)
	known := one.deletedAs != "" && t.release.minor >= deletionsDocumentedSince
	switch source {
	case "", "true", "false":
		// A namespace is deleted through a wrapper: the document has the status of the wrapper, the server answers the object.
		if known && returns != documented && one.Plural != "namespaces" {
			check(fmt.Errorf("1.%d: by its source the deletion of %s/%s %s returns the object: %v, by the document: %v",
				t.release.minor, one.Group, one.Version, one.Plural, returns, documented))
		}
		return returns
	}
	if !known {
		check(fmt.Errorf("1.%d: ReturnDeletedObject of %s is %s, and the document does not say more",
			t.release.minor, one.Plural, source))
	}
	return documented
}

// complete fills in what the OpenAPI document does not say about a resource.
func (s *sources) complete(t *oneRelease, one *resource) {
	own := one.Group + "/" + one.Plural
	key := one.Group + "/" + one.Version + "/" + one.Plural
	one.Off, one.On = s.resourcesOff[key], s.resourcesOn[key]
	if p := t.packageOf(one.Group, one.Version); p != nil {
		one.Lifecycle = p.life[one.Kind]
	}
	stored := false
	for _, verb := range one.Verbs {
		stored = stored || verb == "watch"
	}
	if stored || own == "/componentstatuses" {
		one.ShortNames = s.names[one.Plural]["ShortNames"]
		if !s.noCategories[own] {
			one.Categories = s.names[one.Plural]["Categories"]
		}
	}
	if !stored {
		return
	}
	one.ReturnsDeleted = s.returnsDeleted(t, one)
	as := own
	if other, ok := s.cohabit[own]; ok {
		as = other
	}
	group, plural, _ := strings.Cut(as, "/")
	version := s.preferred[group]
	if override, ok := s.overrides[as]; ok {
		version = override
	} else if s.careful && s.order[group] != nil && !ownEncoding[group] {
		version = t.readableVersion(s, group, one.Kind)
	}
	one.StorageVersion = group + "/" + version
	one.StoragePrefix = plural
	if prefix, ok := s.prefixes[as]; ok {
		one.StoragePrefix = prefix
	} else if group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io" {
		one.StoragePrefix = as
	}
}

// The groups whose servers choose the stored version themselves.
var ownEncoding = map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}

// readableVersion chooses the version a kind is stored in: the first one that the release before knew too. Where there
// is none, 1.37 takes the first version the release itself knows; earlier releases take the group's first version.
func (t *oneRelease) readableVersion(s *sources, group, kind string) string {
	for _, latest := range []int{t.release.minor - 1, t.release.minor} {
		for _, version := range s.order[group] {
			p := t.packageOf(group, version)
			if p == nil || p.types[kind] == nil {
				continue
			}
			life := p.life[kind]
			if life != nil && s.skipReplaced && life.Replacement != "" {
				continue
			}
			if latest < t.release.minor && s.skipAlpha && strings.Contains(version, "alpha") {
				continue
			}
			if life == nil || life.Introduced == "" || minorOf(life.Introduced) <= latest {
				return version
			}
		}
		if !s.skipAlpha {
			break
		}
	}
	return s.preferred[group]
}

func minorOf(version string) int {
	_, after, _ := strings.Cut(version, ".")
	minor, err := strconv.Atoi(after)
	check(err)
	return minor
}

// packageOf finds the package that declares the types of a group version.
func (t *oneRelease) packageOf(group, version string) *goPackage {
	for _, p := range t.packages {
		if p.group == group && p.version == version && !strings.HasPrefix(p.file, "meta.") {
			return p
		}
	}
	return nil
}
