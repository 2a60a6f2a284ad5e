import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import type { List, Struct, Type } from '#schema/type.ts'
import { loadFacts } from './facts.ts'

const reads: string[] = []
const facts = loadFacts((fileName) => {
  reads.push(fileName)
  return readFileSync(new URL(`../../facts/${fileName}`, import.meta.url), 'utf8')
})

test('the list of resources needs only the table of releases', () => {
  facts.resourcesOf(22)
  assert.deepEqual(reads, ['releases.json'])
})

test('the releases are 1.15 to 1.37', () => {
  assert.deepEqual(
    facts.releases,
    Array.from({ length: 23 }, (_, i) => 15 + i),
  )
  assert.equal(facts.versionOf(22), '1.22.17')
})

const resourceAt = (release: number, group: string, version: string, plural: string) =>
  facts
    .resourcesOf(release)
    .find((one) => one.group === group && one.version === version && one.plural === plural)

// group version plural, first and last release that serves it, stored as (oldest → newest), prefix
const served: [string, string, string, number, number, string, string, string][] = [
  ['', 'v1', 'pods', 15, 37, '/v1', '/v1', 'pods'],
  ['', 'v1', 'nodes', 15, 37, '/v1', '/v1', 'minions'],
  ['', 'v1', 'services', 15, 37, '/v1', '/v1', 'services/specs'],
  ['', 'v1', 'endpoints', 15, 37, '/v1', '/v1', 'services/endpoints'],
  ['apps', 'v1', 'deployments', 15, 37, 'apps/v1', 'apps/v1', 'deployments'],
  ['apps', 'v1beta1', 'deployments', 15, 17, 'apps/v1', 'apps/v1', 'deployments'],
  ['extensions', 'v1beta1', 'deployments', 15, 17, 'apps/v1', 'apps/v1', 'deployments'],
  [
    'extensions',
    'v1beta1',
    'ingresses',
    15,
    21,
    'networking.k8s.io/v1beta1',
    'networking.k8s.io/v1',
    'ingress',
  ],
  ['batch', 'v1', 'cronjobs', 21, 37, 'batch/v1beta1', 'batch/v1', 'cronjobs'],
  ['batch', 'v2alpha1', 'cronjobs', 15, 20, 'batch/v1beta1', 'batch/v1beta1', 'cronjobs'],
  ['events.k8s.io', 'v1', 'events', 19, 37, '/v1', '/v1', 'events'],
  [
    'storage.k8s.io',
    'v1',
    'csinodes',
    17,
    37,
    'storage.k8s.io/v1beta1',
    'storage.k8s.io/v1',
    'csinodes',
  ],
  [
    'policy',
    'v1beta1',
    'podsecuritypolicies',
    15,
    24,
    'policy/v1beta1',
    'policy/v1beta1',
    'podsecuritypolicy',
  ],
  [
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
    16,
    37,
    'apiextensions.k8s.io/v1beta1',
    'apiextensions.k8s.io/v1beta1',
    'apiextensions.k8s.io/customresourcedefinitions',
  ],
  [
    'apiregistration.k8s.io',
    'v1',
    'apiservices',
    15,
    37,
    'apiregistration.k8s.io/v1beta1',
    'apiregistration.k8s.io/v1',
    'apiregistration.k8s.io/apiservices',
  ],
  [
    'autoscaling',
    'v2',
    'horizontalpodautoscalers',
    23,
    37,
    'autoscaling/v1',
    'autoscaling/v2',
    'horizontalpodautoscalers',
  ],
  [
    'resource.k8s.io',
    'v1',
    'resourceclaims',
    34,
    37,
    'resource.k8s.io/v1beta2',
    'resource.k8s.io/v1',
    'resourceclaims',
  ],
  [
    'resource.k8s.io',
    'v1',
    'devicetaintrules',
    37,
    37,
    'resource.k8s.io/v1beta2',
    'resource.k8s.io/v1beta2',
    'devicetaintrules',
  ],
  [
    'networking.k8s.io',
    'v1',
    'servicecidrs',
    33,
    37,
    'networking.k8s.io/v1beta1',
    'networking.k8s.io/v1',
    'servicecidrs',
  ],
]
for (const [group, version, plural, first, last, storedFirst, storedLast, prefix] of served) {
  test(`${group}/${version} ${plural} is in 1.${first} to 1.${last}`, () => {
    for (const release of facts.releases) {
      const has = resourceAt(release, group, version, plural) !== undefined
      assert.equal(has, release >= first && release <= last, `1.${release}`)
    }
    const stored = (release: number) => {
      const { storage } = resourceAt(release, group, version, plural)!
      return `${storage!.group}/${storage!.version} ${storage!.prefix}`
    }
    assert.equal(stored(first), `${storedFirst} ${prefix}`)
    assert.equal(stored(last), `${storedLast} ${prefix}`)
  })
}

test('resources that are off by default are marked', () => {
  assert.equal(resourceAt(15, 'extensions', 'v1beta1', 'deployments')!.off, false)
  assert.equal(resourceAt(16, 'extensions', 'v1beta1', 'deployments')!.off, true)
  assert.equal(resourceAt(16, 'extensions', 'v1beta1', 'ingresses')!.off, false)
  assert.equal(resourceAt(17, 'apps', 'v1beta2', 'deployments')!.off, true)
  for (const release of facts.releases) {
    for (const one of facts.resourcesOf(release)) {
      if (one.alpha) assert.equal(one.off, true, `${one.group}/${one.version}`)
      if (release > 17 && release < 24)
        assert.equal(one.off, one.alpha, `${one.group}/${one.version} ${one.plural}`)
    }
  }
})

test('from 1.24 on new beta versions are off, and older ones stay on', () => {
  assert.equal(resourceAt(24, 'batch', 'v1beta1', 'cronjobs')!.off, false)
  assert.equal(resourceAt(28, 'flowcontrol.apiserver.k8s.io', 'v1beta2', 'flowschemas')!.off, false)
  assert.equal(
    resourceAt(28, 'admissionregistration.k8s.io', 'v1beta1', 'validatingadmissionpolicies')!.off,
    true,
  )
  assert.equal(resourceAt(37, 'certificates.k8s.io', 'v1beta1', 'clustertrustbundles')!.off, true)
  assert.equal(
    resourceAt(37, 'certificates.k8s.io', 'v1', 'clustertrustbundles')!.gate,
    'ClusterTrustBundle',
  )
})

test('a name can be a type in one release and an alias in another', () => {
  const rules = (release: number) => {
    const hook = facts.typeOf('io.k8s.api.admissionregistration.v1beta1.ValidatingWebhook', release)
    const items = list(hook, 'rules').items as Struct
    return items.name
  }
  assert.equal(rules(25), 'io.k8s.api.admissionregistration.v1beta1.RuleWithOperations')
  assert.equal(rules(26), 'io.k8s.api.admissionregistration.v1.RuleWithOperations')
})

test('lifecycles name the replacement of a version', () => {
  assert.deepEqual(resourceAt(22, 'batch', 'v1beta1', 'cronjobs')!.lifecycle, {
    introduced: '1.8',
    deprecated: '1.21',
    removed: '1.25',
    replacement: { group: 'batch', version: 'v1', kind: 'CronJob' },
  })
  assert.equal(resourceAt(22, '', 'v1', 'componentstatuses')!.lifecycle!.deprecated, '1.19')
  assert.equal(resourceAt(22, 'apps', 'v1', 'deployments')!.lifecycle, undefined)
})

test('subresources have kinds and verbs of their own', () => {
  const pods = resourceAt(22, '', 'v1', 'pods')!
  const names = pods.subresources.map((one) => one.name)
  assert.deepEqual(names, [
    'attach',
    'binding',
    'ephemeralcontainers',
    'eviction',
    'exec',
    'log',
    'portforward',
    'proxy',
    'status',
  ])
  const eviction = pods.subresources[3]
  assert.deepEqual([eviction.group, eviction.version, eviction.kind], ['policy', 'v1', 'Eviction'])
  assert.equal(pods.subresources[2].gate, 'EphemeralContainers')
  assert.equal(resourceAt(21, '', 'v1', 'pods')!.subresources[3].version, 'v1beta1')
  assert.deepEqual(
    resourceAt(15, '', 'v1', 'serviceaccounts')!.subresources[0].kind,
    'TokenRequest',
  )
})

const list = (struct: Struct, name: string): List => {
  const type = struct.byName.get(name)!.type
  assert.equal(type.is, 'list')
  return type as List
}

test('a pod has its fields, in order, as protobuf and JSON write them', () => {
  const pod = facts.typeOf('io.k8s.api.core.v1.Pod', 22)
  assert.equal(pod.name, 'io.k8s.api.core.v1.Pod')
  assert.deepEqual([...pod.byName.keys()], ['kind', 'apiVersion', 'metadata', 'spec', 'status'])
  assert.deepEqual(
    pod.fields.map((field) => [field.name, field.number, field.inline]),
    [
      ['', 0, true],
      ['metadata', 1, false],
      ['spec', 2, false],
      ['status', 3, false],
    ],
  )
  const spec = pod.byName.get('spec')!.type as Struct
  assert.equal(spec.byName.get('containers')!.required, true)
  assert.equal(spec.byName.get('hostNetwork')!.pointer, false)
  assert.equal(spec.byName.get('terminationGracePeriodSeconds')!.pointer, true)
  assert.equal(spec.byName.get('setHostnameAsFQDN')!.number, 35)
  assert.equal(
    facts.typeOf('io.k8s.api.core.v1.PodSpec', 18).byName.has('setHostnameAsFQDN'),
    false,
  )
  assert.deepEqual(spec.byName.get('restartPolicy')!.type, {
    is: 'scalar',
    scalar: 'string',
    named: 'v1.RestartPolicy',
  })
})

test('a list without its own list type gets it from the patch strategy', () => {
  const spec = facts.typeOf('io.k8s.api.core.v1.PodSpec', 22)
  const shape = ({ listType, mapKeys }: List) => [listType, ...mapKeys]
  assert.deepEqual(shape(list(spec, 'containers')), ['map', 'name'])
  assert.deepEqual(shape(list(spec, 'volumes')), ['map', 'name'])
  assert.deepEqual(shape(list(spec, 'tolerations')), ['atomic'])
  assert.deepEqual(shape(list(spec, 'topologySpreadConstraints')), [
    'map',
    'topologyKey',
    'whenUnsatisfiable',
  ])
  const container = facts.typeOf('io.k8s.api.core.v1.Container', 22)
  assert.deepEqual(shape(list(container, 'ports')), ['map', 'containerPort', 'protocol'])
  assert.deepEqual(
    shape(list(facts.typeOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 22), 'finalizers')),
    ['set'],
  )
  const port = facts.typeOf('io.k8s.api.core.v1.ContainerPort', 22)
  assert.equal(port.byName.get('protocol')!.default, 'TCP')
  assert.equal(
    facts.typeOf('io.k8s.api.core.v1.ContainerPort', 19).byName.get('protocol')!.default,
    undefined,
  )
})

test('inlined structs keep their protobuf number, and their fields are inlined in JSON', () => {
  const volume = facts.typeOf('io.k8s.api.core.v1.Volume', 22)
  assert.deepEqual(
    volume.fields.map((field) => [field.name, field.number]),
    [
      ['name', 1],
      ['', 2],
    ],
  )
  assert.equal(volume.byName.get('emptyDir')!.number, 2)
})

test('named slices that protobuf wraps, unions and atomic structs', () => {
  const extra = facts.typeOf('io.k8s.api.authentication.v1.UserInfo', 22).byName.get('extra')!.type
  assert.equal(extra.is === 'map' && extra.values.is === 'list' && extra.values.wrapped, true)
  const items = facts
    .typeOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', 22)
    .byName.get('items')!.type
  assert.equal(items.is === 'struct' && items.union, true)
  assert.deepEqual(items.is === 'struct' && items.fields.map((field) => field.number), [1, 2])
  const selector = 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector'
  assert.equal(facts.typeOf(selector, 22).atomic, true)
  assert.equal(facts.typeOf(selector, 15).atomic, false)
  assert.equal(facts.typeOf('io.k8s.api.core.v1.SeccompProfile', 22).discriminator, 'type')
  assert.equal(facts.typeOf('io.k8s.api.lifecycle.v1alpha1.ResponderStatus', 37).granular, true)
})

const matchConditions: [version: string, name: string][] = [
  ['v1alpha1', 'v1alpha1.MatchCondition'],
  ['v1beta1', 'v1beta1.MatchCondition'],
  ['v1', 'v1.MatchCondition'],
]
for (const [version, name] of matchConditions)
  test(`match conditions of ${version} have a type of their own`, () => {
    const prefix = 'io.k8s.api.admissionregistration'
    const spec = facts.typeOf(`${prefix}.${version}.MutatingAdmissionPolicySpec`, 37)
    const list = spec.byName.get('matchConditions')?.type
    assert(list?.is === 'list' && list.items.is === 'struct')
    assert.equal(list.items.name, `${prefix}.${name}`)
    assert.equal(list.items, facts.typeOf(`${prefix}.${name}`, 37))
    assert.deepEqual([...list.items.byName.keys()], ['name', 'expression'])
  })

test('an alias of a type has the name of that type', () => {
  const file = 'io.k8s.api.admissionregistration'
  const rules = facts.typeOf(`${file}.v1beta1.ValidatingWebhook`, 37).byName.get('rules')?.type
  assert(rules?.is === 'list' && rules.items.is === 'struct')
  assert.equal(rules.items.name, `${file}.v1.RuleWithOperations`)
})

test('a default that names a constant is its value', () => {
  const disk = facts.typeOf('io.k8s.api.core.v1.AzureDiskVolumeSource', 37)
  const defaults = ['cachingMode', 'kind', 'fsType'].map((name) => disk.byName.get(name)?.default)
  assert.deepEqual(defaults, ['ReadWrite', 'Shared', 'ext4'])
})

for (const release of facts.releases) {
  test(`every type of 1.${release} is there, and its fields have one number each`, () => {
    const seen = new Set<Type>()
    const visit = (type: Type): void => {
      if (seen.has(type)) return
      seen.add(type)
      if (type.is === 'list') visit(type.items)
      if (type.is === 'map') visit(type.values)
      if (type.is !== 'struct') return
      const numbers = type.fields.map((field) => field.number).filter((number) => number > 0)
      assert.equal(new Set(numbers).size, numbers.length, type.name)
      for (const field of type.fields) visit(field.type)
    }
    for (const one of facts.resourcesOf(release)) {
      const kinds = facts.kindsOf(one.group, one.version, release)
      assert.ok(kinds.has(one.kind), `${one.group}/${one.version} ${one.kind}`)
      if (one.verbs.includes('list')) assert.ok(kinds.has(one.listKind), one.listKind)
      for (const name of kinds.values()) visit(facts.typeOf(name, release))
      for (const sub of one.subresources) {
        visit(facts.typeOf(facts.openApiNameOf(sub.group, sub.version, sub.kind)!, release))
      }
    }
    assert.ok(seen.size > 500)
  })
}
