package main

import (
	"encoding/json"
	"os"
	"sort"
	"strings"
)

// oneRelease is everything read of one release.
type oneRelease struct {
	release   *release
	packages  map[string]*goPackage
	versions  map[string]*groupVersion // by "group/version"
	resources map[string]*resource     // by "group/version/plural"
}

type groupVersion struct {
	Group           string `json:"group"`
	Version         string `json:"version"`
	File            string `json:"file"`
	GroupPriority   int    `json:"groupPriority,omitempty"`
	VersionPriority int    `json:"versionPriority,omitempty"`
	Off             bool   `json:"off,omitempty"`
}

type resource struct {
	Group          string         `json:"group"`
	Version        string         `json:"version"`
	Plural         string         `json:"plural"`
	Kind           string         `json:"kind"`
	Namespaced     bool           `json:"namespaced,omitempty"`
	Verbs          []string       `json:"verbs"`
	ShortNames     []string       `json:"shortNames,omitempty"`
	Categories     []string       `json:"categories,omitempty"`
	StorageVersion string         `json:"storageVersion,omitempty"`
	StoragePrefix  string         `json:"storagePrefix,omitempty"`
	Off            bool           `json:"off,omitempty"`
	On             bool           `json:"on,omitempty"`
	Gate           string         `json:"gate,omitempty"`
	ReturnsDeleted bool           `json:"returnsDeleted,omitempty"`
	Lifecycle      *lifecycle     `json:"lifecycle,omitempty"`
	Subresources   []*subresource `json:"subresources,omitempty"`
	deletedAs      string         // the kind that the document names as the answer to a deletion
}

type subresource struct {
	Name    string   `json:"name"`
	Group   *string  `json:"group,omitempty"`
	Version string   `json:"version,omitempty"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
	Gate    string   `json:"gate,omitempty"`
}

type operation struct {
	Action string                                 `json:"x-kubernetes-action"`
	GVK    *struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`

	Responses map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		}
	}
}

var verbOfAction = map[string]string{
	"post": "create", "put": "update", "patch": "patch", "get": "get", "list": "list", "delete": "delete",
	"deletecollection": "deletecollection", "watch": "watch", "watchlist": "watch",
}

// Discovery names the verbs of a connecting subresource by method; HEAD and OPTIONS have none.
var verbOfMethod = map[string]string{
	"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete",
}

// target is the resource a path of the OpenAPI document stands for.
type target struct {
	group, version, plural, subresource string
	namespaced, ok                      bool
}

func parsePath(path string) (t target) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		t.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		t.group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return t
	}
	if parts[0] == "watch" {
		parts = parts[1:]
	}
	if len(parts) > 1 && parts[0] == "namespaces" && parts[1] == "{namespace}" {
		t.namespaced, parts = true, parts[2:]
	}
	t.plural, t.ok = parts[0], true
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t
}

// readResources reads paths, verbs, scopes and kinds from the release's OpenAPI document, the rest from its sources.
func (t *oneRelease) readResources() {
	bytes, err := os.ReadFile(t.release.dir("kubernetes", "api/openapi-spec/swagger.json"))
	check(err)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	check(json.Unmarshal(bytes, &document))
	t.versions, t.resources = map[string]*groupVersion{}, map[string]*resource{}
	for path, methods := range document.Paths {
		where := parsePath(path)
		if !where.ok {
			continue
		}
		for method, raw := range methods {
			if method == "parameters" {
				continue
			}
			var op operation
			check(json.Unmarshal(raw, &op))
			if op.Action != "" {
				t.addOperation(where, method, op)
			}
		}
	}
	sources := t.readSources()
	for key, one := range t.resources {
		if one.Kind == "" && !t.standIn(one) {
			delete(t.resources, key)
			continue
		}
		sort.Strings(one.Verbs)
		for _, sub := range one.Subresources {
			sort.Strings(sub.Verbs)
		}
		sort.Slice(one.Subresources, func(a, b int) bool { return one.Subresources[a].Name < one.Subresources[b].Name })
		t.addVersion(one.Group, one.Version, sources)
		sources.complete(t, one)
	}
}

func (t *oneRelease) addOperation(where target, method string, op operation) {
	key := where.group + "/" + where.version + "/" + where.plural
	one := t.resources[key]
	if one == nil {
		one = &resource{Group: where.group, Version: where.version, Plural: where.plural}
		t.resources[key] = one
	}
	one.Namespaced = one.Namespaced || where.namespaced
	verb := verbOfAction[op.Action]
	if op.Action == "connect" {
		verb = verbOfMethod[method]
	}
	if where.subresource == "" {
		if op.GVK != nil && one.Kind == "" {
			one.Kind = op.GVK.Kind
		}
		if op.Action == "delete" {
			one.deletedAs = lastPart(op.Responses["200"].Schema.Ref)
		}
		one.Verbs = withVerb(one.Verbs, verb)
		return
	}
	var sub *subresource
	for _, have := range one.Subresources {
		if have.Name == where.subresource {
			sub = have
		}
	}
	if sub == nil {
		sub = &subresource{Name: where.subresource, Verbs: []string{}}
		one.Subresources = append(one.Subresources, sub)
	}
	if op.GVK != nil {
		sub.Kind = op.GVK.Kind
		// Discovery names group and version of a scale even where they are the resource's own.
		own := op.GVK.Group == where.group && op.GVK.Version == where.version
		if !own || (sub.Kind == "Scale" && where.plural != "replicationcontrollers") {
			group := op.GVK.Group
			sub.Group, sub.Version = &group, op.GVK.Version
		}
	}
	sub.Verbs = withVerb(sub.Verbs, verb)
}

// lastPart turns the name of a definition into that of its type.
func lastPart(name string) string { return name[strings.LastIndex(name, ".")+1:] }

func withVerb(verbs []string, verb string) []string {
	if verb == "" {
		return verbs
	}
	for _, have := range verbs {
		if have == verb {
			return verbs
		}
	}
	return append(verbs, verb)
}

// standIn finds the kind of a resource that has subresources only: a type made to stand in for it.
func (t *oneRelease) standIn(one *resource) bool {
	for _, p := range t.packages {
		for name := range p.types {
			if p.group == one.Group && p.version == one.Version && strings.ToLower(name)+"s" == strings.TrimSuffix(one.Plural, "s")+"dummys" {
				one.Kind, one.Verbs = name, []string{}
				return true
			}
		}
	}
	return false
}

func (t *oneRelease) addVersion(group, version string, s *sources) {
	key := group + "/" + version
	if t.versions[key] != nil {
		return
	}
	one := &groupVersion{Group: group, Version: version, Off: s.versionsOff[key]}
	one.GroupPriority, one.VersionPriority = s.priorities[key][0], s.priorities[key][1]
	if p := t.packageOf(group, version); p != nil {
		one.File = p.file
	}
	t.versions[key] = one
}
