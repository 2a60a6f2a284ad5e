package main

import "fmt"

// enough stops the program where a source yields nothing, or far less than for the release before: the source has
// moved or has changed its form, and the tables would silently lose rows.
func enough(r *release, what string, count, before int) {
	if count > 0 && count*3 >= before*2 {
		return
	}
	check(fmt.Errorf("1.%d: %d %s, the release before had %d: has their source moved?", r.minor, count, what, before))
}

// checkAgainstLast compares what the release yields with what the one before did.
func (m *tables) checkAgainstLast(t *oneRelease) {
	before := map[string]int{}
	if len(m.releases) > 0 {
		before = m.releases[len(m.releases)-1].yield()
	}
	yield := t.yield()
	for _, what := range sortedKeys(yield) {
		// Life cycles begin with 1.19; the lists of what is off are rewritten now and then, so only none is suspect.
		if what == lifeCycles && yield[what] == 0 && before[what] == 0 || what == off && yield[what] > 0 {
			continue
		}
		enough(t.release, what, yield[what], before[what])
	}
}

const lifeCycles = "kinds with a life cycle"
const off = "group versions that are off"

// yield counts what each source of a release gave.
func (t *oneRelease) yield() map[string]int {
	count := map[string]int{
		"packages": len(t.packages), "resources": len(t.resources), "group versions": len(t.versions),
		off: 0, "group priorities": 0, "types": 0, "fields": 0, "verbs": 0,
		"short names": 0, "subresources": 0, "stored resources": 0, lifeCycles: 0,
		"resources that a deletion returns": 0,
	}
	for _, one := range t.versions {
		if one.Off {
			count[off]++
		}
		if one.GroupPriority > 0 {
			count["group priorities"]++
		} else if one.Group != "" && one.Group != "apiregistration.k8s.io" && !one.Off {
			// The core group and that of the aggregator stand before all others.
			check(fmt.Errorf("1.%d: no priority for %s/%s", t.release.minor, one.Group, one.Version))
		}
	}
	for _, p := range t.packages {
		count["types"] += len(p.types)
		count[lifeCycles] += len(p.life)
		for _, one := range p.types {
			count["fields"] += len(one.fields)
		}
	}
	for _, one := range t.resources {
		count["verbs"] += len(one.Verbs)
		count["short names"] += len(one.ShortNames)
		count["subresources"] += len(one.Subresources)
		if one.StorageVersion != "" {
			count["stored resources"]++
		}
		if one.ReturnsDeleted {
			count["resources that a deletion returns"]++
		}
	}
	return count
}
