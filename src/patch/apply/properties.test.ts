import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, KubeObject } from '#api/object-meta.ts'
import { applyJsonPatch } from '#patch/json-patch.ts'
import { equalValues, isMap, type JsonMap } from '#patch/json-map.ts'
import { applyMergePatch } from '#patch/merge-patch.ts'
import { applyStrategicMerge } from '#patch/strategic-merge.ts'
import { claimNew } from './claim.ts'
import { compareObjects, isSame } from './compare.ts'
import { applyConfiguration, recordUpdate } from './field-manager.ts'
import { emptySet, equalSets, type FieldSet, isSubset, parseFieldSet, union } from './field-set.ts'
import { mergeObjects } from './merge.ts'
import { extractItems, removeItems } from './remove.ts'
import { type Chance, chance, randomThing, thing, thingKind } from './sample.suite.ts'
import { toFieldSet } from './to-field-set.ts'
import { zeroOf } from './zero.ts'

/** Enough to cover every pair of shapes; each takes a few milliseconds. */
const seeds = Array.from({ length: 150 }, (_, i) => i + 1)
const json = (object: unknown) => object as Json
const who = (manager: string) => ({ manager, subresource: '', now: '2021-01-01T00:00:00Z' })

/** A configuration: part of an object, including the keys of items. */
function part(value: Json, luck: Chance): Json {
  if (Array.isArray(value))
    return value.filter(() => luck.next() < 0.7).map((item) => part(item, luck))
  if (!isMap(value)) return value
  const keep = (name: string) =>
    ['name', 'containerPort', 'protocol', 'type'].includes(name) || luck.next() < 0.6
  return Object.fromEntries(
    Object.keys(value)
      .filter(keep)
      .map((name) => [name, part(value[name] as Json, luck)]),
  )
}

function configOf(object: KubeObject, luck: Chance): KubeObject {
  const { apiVersion, kind, metadata, spec } = object
  const labels = metadata.labels === undefined ? {} : { labels: part(metadata.labels, luck) }
  return {
    apiVersion,
    kind,
    metadata: { name: 'a', ...labels },
    spec: part(spec, luck),
  } as KubeObject
}

const applied = (live: KubeObject | undefined, config: KubeObject, manager: string): KubeObject => {
  const outcome = applyConfiguration(thingKind, live, config, { ...who(manager), force: true })
  assert.ok('object' in outcome)
  return outcome.object
}

function ownedBy(object: KubeObject): FieldSet {
  const sets = (object.metadata.managedFields ?? []).map(({ fieldsV1 }) => parseFieldSet(fieldsV1))
  return sets.reduce(union, emptySet)
}

test('applying the same configuration twice changes nothing, not even a time', () => {
  for (const seed of seeds) {
    const luck = chance(seed)
    const first = randomThing(luck)
    const live = {
      ...first,
      metadata: {
        ...first.metadata,
        managedFields: recordUpdate(thingKind, undefined, first, who('maker')),
      },
    }
    const config = configOf(randomThing(luck), luck)
    const once = applied(live, config, 'one')
    const twice = applyConfiguration(thingKind, once, config, {
      ...who('one'),
      now: '2022-02-02T00:00:00Z',
      force: false,
    })
    assert.deepEqual('object' in twice && twice.object, once, `seed ${seed}`)
  }
})

test('the fields of all managers cover the applied fields', () => {
  for (const seed of seeds) {
    const luck = chance(seed)
    const first = configOf(randomThing(luck), luck)
    const second = configOf(randomThing(luck), luck)
    const object = applied(applied(undefined, first, 'one'), second, 'two')
    const claimed = toFieldSet(thing, json(second.spec === null ? {} : { spec: second.spec }))
    assert.ok(isSubset(claimed, ownedBy(object)), `seed ${seed}`)
    const shown = mergeObjects(thing, json(object), json(second))
    assert.ok(
      isSame(compareObjects(thing, json(object), shown)),
      `seed ${seed}: the object has every applied value`,
    )
  }
})

test('the compiled claim of a new object equals the comparison with an empty one', () => {
  for (const seed of seeds) {
    const object = json(randomThing(chance(seed)))
    const { added, modified } = compareObjects(thing, zeroOf(thing) as Json, object)
    assert.ok(equalSets(claimNew(thing, object), union(added, modified)), `seed ${seed}`)
    assert.equal(
      JSON.stringify(claimNew(thing, object)),
      JSON.stringify(union(added, modified)),
      `seed ${seed}: order`,
    )
  }
})

test('applying a comparison to one object yields the other', () => {
  for (const seed of seeds) {
    const luck = chance(seed)
    const [a, b] = [json(randomThing(luck)), json(randomThing(luck))]
    const there = compareObjects(thing, a, b)
    const back = compareObjects(thing, b, a)
    assert.ok(
      equalSets(there.added, back.removed) && equalSets(there.modified, back.modified),
      `seed ${seed}`,
    )
    const forward = mergeObjects(thing, removeItems(thing, a, there.removed), b)
    assert.ok(isSame(compareObjects(thing, withoutNulls(forward), b)), `seed ${seed}`)
  }
})

test('extracting all paths of an object yields the object', () => {
  for (const seed of seeds) {
    const object = json(randomThing(chance(seed)))
    const extracted = extractItems(thing, object, toFieldSet(thing, object))
    assert.ok(
      isSame(compareObjects(thing, extracted as Json, withoutNulls(object))),
      `seed ${seed}`,
    )
  }
})

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]))
}

/**
 * The change as a merge patch and as a JSON patch; lists are replaced, for which a strategic patch
 * needs a directive.
 */
function differences(
  before: JsonMap,
  after: JsonMap,
  path = '',
): { merge: JsonMap; strategic: JsonMap; steps: Json[] } {
  const merge: JsonMap = {}
  const strategic: JsonMap = {}
  const steps: Json[] = []
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (now === undefined) {
      merge[name] = strategic[name] = null
      steps.push({ op: 'remove', path: at })
    } else if (old !== undefined && equalValues(old, now)) continue
    else if (isMap(old) && isMap(now)) {
      const below = differences(old, now, at)
      merge[name] = below.merge
      strategic[name] = name === 'raw' ? { $patch: 'replace', ...now } : below.strategic
      steps.push(...below.steps)
    } else {
      merge[name] = now
      const merged = Array.isArray(old) && Array.isArray(now) && isMap(old[0])
      strategic[name] = merged ? [{ $patch: 'replace' }, ...now] : now
      steps.push({ op: old === undefined ? 'add' : 'replace', path: at, value: now })
    }
  }
  return { merge, strategic, steps }
}

test('merge, JSON and strategic patches of the same change agree', () => {
  for (const seed of seeds) {
    const luck = chance(seed)
    const [before, after] = [randomThing(luck), randomThing(luck)]
    // Finalizers are a set: a strategic patch adds to it, so the other two would have to list more.
    delete before.metadata.finalizers
    delete after.metadata.finalizers
    const { merge, strategic, steps } = differences(json(before) as JsonMap, json(after) as JsonMap)
    assert.deepEqual(
      applyMergePatch(json(before) as JsonMap, merge, 22),
      after,
      `seed ${seed}: merge`,
    )
    assert.deepEqual(applyJsonPatch(json(before), steps, 22), after, `seed ${seed}: JSON`)
    assert.deepEqual(
      applyStrategicMerge(thing, json(before), strategic, 22),
      after,
      `seed ${seed}: strategic`,
    )
  }
})
