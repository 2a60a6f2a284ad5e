/**
 * Objects of every stored kind with everything in them, as each release would write them, read by
 * later ones. The quick look finds whatever the types and defaults of the later release would
 * change. It changes nothing else.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { equalValues } from '#patch/json-map.ts'
import type { Scalar, Type } from '#schema/type.ts'
import { builtInResources } from './built-in.ts'
import { loadFacts } from './facts.ts'
import { featureGates } from './feature-gates.ts'
import type { Kind, Resource } from './kind.ts'
import { olderForms } from './older-forms.ts'
import { fillAddresses } from './older-services.ts'

const folder = join(import.meta.dirname, '..', '..', 'facts')
const readFacts = (name: string) => readFileSync(join(folder, name), 'utf8')
const facts = loadFacts(readFacts)

function gatesOf(release: number): (gate: string) => boolean {
  const gates = featureGates(JSON.parse(readFacts('features.json')), release, new Map())
  assert.ok('enabled' in gates)
  return gates.enabled
}

const contexts = new Map(
  facts.releases.map((release) => [release, { release, feature: gatesOf(release) }]),
)
const contextOf = (release: number) => contexts.get(release) as { release: number; feature: never }
const resources = new Map<number, Resource[]>()
function storedIn(release: number): Resource[] {
  const options = { ...contextOf(release), root: '/registry', serves: () => true }
  const known = resources.get(release) ?? builtInResources(facts, options)
  resources.set(release, known)
  return known.filter(({ storagePrefix }) => storagePrefix !== '')
}

const scalars: Readonly<Record<string, Json>> = {
  string: 'a',
  bool: true,
  int32: 1,
  int64: 1,
  float64: 1,
  bytes: 'YQ==',
  quantity: '1',
  intOrString: 1,
  time: '2020-01-02T03:04:05Z',
  microTime: '2020-01-02T03:04:05.000000Z',
}

/** Rare templates, and those of 1.15 alone. */
const notWalked = new Set(['initializers', 'managedFields'])

/**
 * A value with every field there is, each list and map with one member. `bare`: plain values only
 * where they must be.
 */
function full(type: Type, bare: boolean, above: readonly Type[] = []): Json | undefined {
  if (above.includes(type)) return undefined
  const within = [...above, type]
  switch (type.is) {
    case 'scalar':
      return bare ? undefined : scalars[(type as Scalar).scalar]
    case 'list': {
      const item = full(type.items, bare, within)
      return item === undefined ? undefined : [item]
    }
    case 'map': {
      const value = full(type.values, bare, within)
      return value === undefined ? undefined : { a: value }
    }
    case 'struct': {
      if (type.union) return undefined
      const out: { [key: string]: Json } = {}
      for (const [name, field] of type.byName) {
        if (notWalked.has(name)) continue
        const value = full(field.type, bare && !field.required, within)
        if (value !== undefined) out[name] = value
      }
      return out
    }
    default:
      return undefined
  }
}

/** The object as a release writes it in its stored version. */
function written({ stored }: Resource, body: Loose): KubeObject {
  const metadata = {
    name: 'a',
    ...(stored.namespaced && { namespace: 'n' }),
    creationTimestamp: '2020-01-02T03:04:05Z',
  }
  const { object } = stored.conform({ ...body, metadata })
  stored.applyDefaults(object)
  return JSON.parse(JSON.stringify(object))
}

/**
 * As kube-apiserver reads everything: by the type, and with the defaults, of the version it is
 * stored in.
 */
function readBy(kind: Kind, release: number, object: KubeObject): KubeObject {
  const { object: read } = kind.conform(object)
  kind.applyDefaults(read)
  if (kind.plural === 'services') fillAddresses(read, ['IPv4'], contextOf(release))
  return JSON.parse(JSON.stringify(read))
}

function check(older: number, newer: number, one: Resource, body: Loose): void {
  const called = `${one.group}/${one.plural} of 1.${older} in 1.${newer}`
  const now = storedIn(newer).find(({ storagePrefix }) => storagePrefix === one.storagePrefix)
  if (now === undefined) return
  const object = written(one, body)
  const kind = now.kindOf(object.apiVersion as string) as Kind
  const wanted = readBy(kind, newer, object)
  const restored = now.restore?.(structuredClone(object))
  const read = JSON.parse(JSON.stringify(restored ?? object))
  assert.deepEqual(read, wanted, called)
  assert.equal(restored === undefined, equalValues(wanted as never, object as never), called)
}

/** The newest release whose older forms are known. */
const newestKnown = 37
const pairs = facts.releases
  .filter((older) => older <= newestKnown)
  .flatMap((older) =>
    [...new Set([older, older + 1, newestKnown])]
      .filter((newer) => newer <= newestKnown)
      .map((newer) => [older, newer]),
  )
for (const [older, newer] of pairs as [number, number][]) {
  test(`what 1.${older} wrote is read by 1.${newer} with what it lacks`, () => {
    for (const one of storedIn(older)) {
      for (const bare of [false, true]) {
        check(older, newer, one, full(one.stored.type, bare) as Loose)
      }
    }
  })
}

test('null times and old names in templates end where the type has none', () => {
  const metadata = { creationTimestamp: null, clusterName: 'c' }
  const body = { spec: { jobTemplate: { metadata, spec: { template: { metadata } } } } }
  for (const [release, shown] of [
    [24, metadata],
    [25, { creationTimestamp: null }],
    [33, { creationTimestamp: null }],
    [34, {}],
    [37, {}],
  ] as const) {
    const jobs = storedIn(release).find(({ plural }) => plural === 'cronjobs') as Resource
    const { object } = jobs.stored.conform({ ...body, metadata: { name: 'a' } })
    jobs.stored.applyDefaults(object)
    Object.assign(object.spec.jobTemplate, { metadata: { ...metadata } })
    const read = jobs.restore?.(object) ?? object
    assert.deepEqual(read.spec.jobTemplate.metadata, shown, `1.${release}`)
  }
})

test('a job of 1.28 shows in 1.29 that its selector is generated', () => {
  for (const [release, shown] of [
    [28, undefined],
    [29, false],
  ] as const) {
    const jobs = storedIn(release).find(({ plural }) => plural === 'jobs') as Resource
    const { object } = jobs.stored.conform({ metadata: { name: 'a' }, spec: { template: {} } })
    jobs.stored.applyDefaults(object)
    delete object.spec.manualSelector
    assert.equal((jobs.restore?.(object) ?? object).spec.manualSelector, shown, `1.${release}`)
  }
})

const statuses: readonly [plural: string, body: Loose, shown: readonly [number, Loose][]][] = [
  [
    'statefulsets',
    { status: { replicas: 1 } },
    [
      [22, { replicas: 1 }],
      [23, { replicas: 1, availableReplicas: 0 }],
    ],
  ],
  [
    'networkpolicies',
    {},
    [
      [23, undefined as never],
      [24, {}],
    ],
  ],
]
for (const [plural, body, shown] of statuses)
  for (const [release, status] of shown)
    test(`the status of stored ${plural} in 1.${release}`, () => {
      const one = storedIn(release).find((other) => other.plural === plural) as Resource
      const { object } = one.stored.conform({ ...body, metadata: { name: 'a' } })
      one.stored.applyDefaults(object)
      if (body.status === undefined) delete object.status
      else object.status = { ...body.status }
      assert.deepEqual((one.restore?.(object) ?? object).status, status)
    })

const labels = { a: 'b' }
const template = { spec: { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: {} } }] } }
const bodies: readonly [plural: string, body: Loose][] = [
  ['services', { spec: { clusterIP: '10.0.0.1' } }],
  ['services', { spec: { clusterIP: 'fd00::1', type: 'LoadBalancer' } }],
  ['services', { spec: { clusterIP: 'None' } }],
  ['services', { spec: { clusterIP: 'None', selector: labels } }],
  ['services', { spec: { type: 'ExternalName', externalName: 'a.b' } }],
  ['pods', template],
  ['deployments', { spec: { template } }],
  ['cronjobs', { spec: { jobTemplate: { spec: { template } } } }],
  ['pods', { status: { podIP: '10.1.1.1' } }],
  ['nodes', { spec: { podCIDR: '10.1.0.0/24' } }],
  ['daemonsets', { spec: { updateStrategy: { type: 'OnDelete' } } }],
  ['daemonsets', { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: {} } } }],
  ['ingresses', { spec: { rules: [{ host: 'a' }, { http: { paths: [{ path: '/a' }] } }] } }],
  ['certificatesigningrequests', { status: { conditions: [{ type: 'Approved' }] } }],
]
test('shapes with their own rules are completed too', () => {
  for (const [older, newer] of pairs as [number, number][]) {
    for (const [plural, body] of bodies) {
      for (const one of storedIn(older).filter((other) => other.plural === plural))
        check(older, newer, one, body)
    }
  }
})

test('metadata fields that only 1.15 had are not returned', () => {
  for (const metadata of [
    { initializers: { pending: [{ name: 'a' }] } },
    { managedFields: [{ manager: 'm', operation: 'Apply', fields: { 'f:data': {} } }] },
  ]) {
    for (const release of facts.releases) {
      const maps = storedIn(release).find(({ plural }) => plural === 'configmaps') as Resource
      const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', ...metadata } }
      const restored = maps.restore?.(object as never)
      assert.equal(restored !== undefined, release > 15, `1.${release}`)
      assert.doesNotMatch(JSON.stringify(restored ?? {}), /pending|f:data/)
    }
  }
})

test('the oldest release checks nothing', () => {
  for (const { group, plural } of storedIn(15))
    assert.equal(olderForms(`${group}/${plural}`, contextOf(15)), undefined)
})
