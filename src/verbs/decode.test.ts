/** From a body to an object: its type, name and namespace, and unknown fields. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { decodeWritten } from '#codec/json.ts'
import type { Kind } from '#kinds/kind.ts'
import {
  conformAs,
  conformRaw,
  decodeBody,
  reportUnknown,
  requireMatchingName,
  settleNamespace,
} from './decode.ts'
import { refusalOf, startVerbs } from './fixture.suite.ts'
import type { WriteRequest } from './server.ts'

const verbs = await startVerbs()
after(() => verbs.stop())
const at = (plural: string, name = '') => verbs.target(plural, name)
const outcomeOf = (work: () => unknown) => refusalOf((async () => work())())

const types: [body: unknown, expected: string][] = [
  [{ metadata: { name: 'a' } }, 'none'],
  [null, 'none'],
  [{ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } }, 'none'],
  [{ kind: '', apiVersion: '', metadata: {} }, 'none'],
  [{ apiVersion: '/v1', metadata: {} }, 'none'],
  [{ kind: 'Secret', apiVersion: 'v1', metadata: {} }, '400 BadRequest'],
  [{ kind: 'ConfigMap', apiVersion: 'v2', metadata: {} }, '400 BadRequest'],
  [{ kind: 'ConfigMap', apiVersion: 'apps/v1', metadata: {} }, '400 BadRequest'],
  [{ metadata: { name: 7 } }, '400 BadRequest'],
  [{ metadata: { name: 'a' }, data: { a: 1 } }, '400 BadRequest'],
  [{ metadata: [] }, '400 BadRequest'],
]
for (const [body, expected] of types) {
  test(`a config map from ${JSON.stringify(body)}: ${expected}`, async () => {
    const request = verbs.request(at('configmaps'), body)
    assert.equal(await outcomeOf(() => decodeBody(request, verbs.server)), expected)
  })
}

const others: [body: object, text: string][] = [
  [
    { kind: 'Secret', apiVersion: 'v1' },
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    { kind: 'Deployment', apiVersion: 'apps/v1' },
    'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
  ],
  [
    { kind: 'List' },
    'List in version "v1" cannot be handled as a ConfigMap: converting (v1.List) to (core.ConfigMap): unknown conversion',
  ],
  [
    { kind: 'Nope' },
    'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:100"',
  ],
  [
    { apiVersion: 'example.com/v9' },
    'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "example.com/v9" in scheme "pkg/runtime/scheme.go:100"',
  ],
]
const otherBodies: [as: string, body: object, text: string][] = [
  [
    'policy/v1 Eviction',
    { kind: 'Pod', apiVersion: 'v1' },
    'Pod in version "v1" cannot be handled as a Eviction: converting (v1.Pod) to (policy.Eviction): unknown conversion',
  ],
  [
    'autoscaling/v1 Scale',
    { apiVersion: 'example.com/v9' },
    'Scale in version "v9" cannot be handled as a Scale: no kind "Scale" is registered for version "example.com/v9" in scheme "pkg/runtime/scheme.go:100"',
  ],
  [
    'v1 Binding',
    { kind: 'Deployment', apiVersion: 'apps/v1' },
    'Deployment in version "v1" cannot be handled as a Binding: converting (v1.Deployment) to (core.Binding): unknown conversion',
  ],
]
for (const [as, body, message] of otherBodies) {
  test(`a body of ${as} that says it is ${JSON.stringify(body)}`, () => {
    const [apiVersion = '', kind = ''] = as.split(' ')
    const request = verbs.request(at('pods'), body)
    assert.throws(() => conformAs(verbs.server, apiVersion, kind, request), { message })
  })
}

for (const [body, message] of others) {
  test(`a config map that says it is ${JSON.stringify(body)}`, () => {
    const request = verbs.request(at('configmaps'), body)
    assert.throws(() => decodeBody(request, verbs.server), { message })
  })
}

test('missing fields get defaults', () => {
  const spec = { ports: [{ port: 80 }] }
  const { spec: made } = decodeBody(
    verbs.request(at('services'), { metadata: {}, spec }),
    verbs.server,
  )
  assert.deepEqual([made.type, made.sessionAffinity], ['ClusterIP', 'None'])
  assert.deepEqual([made.ports[0].protocol, made.ports[0].targetPort], ['TCP', 80])
})

/** Custom kinds must name their kind and apiVersion. */
const free = (kind: Kind): Kind =>
  ({
    ...kind,
    origin: 'custom',
    formats: new Set(['json', 'yaml']),
    decoding: 'free',
    conform: (value: unknown) => ({ object: value, unknown: [] }),
  }) as unknown as Kind
const untyped: [body: object, isPatch: boolean, expected: string][] = [
  [{ kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }, false, 'none'],
  [{ apiVersion: 'v1', metadata: {} }, false, '400 BadRequest'],
  [{ kind: 'ConfigMap', metadata: {} }, false, '500 InternalError'],
  [{ kind: 'ConfigMap', apiVersion: null, metadata: {} }, false, '400 BadRequest'],
  [{ kind: 7, apiVersion: 'v1' }, false, '400 BadRequest'],
  [{ kind: 'ConfigMap', apiVersion: [] }, false, '400 BadRequest'],
  [{ kind: 'ConfigMap', apiVersion: 'v2', metadata: {} }, false, '400 BadRequest'],
  [{ kind: 'ConfigMap', apiVersion: 'v2', metadata: {} }, true, '422 Invalid'],
  [{ kind: 'Other', apiVersion: 'v1', metadata: {} }, false, '422 Invalid'],
]
for (const [body, isPatch, expected] of untyped) {
  const how = isPatch ? 'a patch' : 'a write'
  test(`${how} of a free kind with ${JSON.stringify(body)}: ${expected}`, async () => {
    const request = {
      ...verbs.request(at('configmaps'), body),
      ...(isPatch && { patchType: 'merge' }),
    }
    const kind = free(at('configmaps').kind)
    const read = () => conformRaw(kind, body, request as WriteRequest, verbs.server)
    assert.equal(await outcomeOf(read), expected)
  })
}

const validations: [
  validation: 'Ignore' | 'Warn' | 'Strict',
  count: number,
  warnings: number,
  expected: string,
][] = [
  ['Ignore', 3, 0, 'none'],
  ['Warn', 3, 3, 'none'],
  ['Warn', 500, 100, 'none'],
  ['Strict', 0, 0, 'none'],
  ['Strict', 1, 0, '400 BadRequest'],
]
for (const [fieldValidation, count, warnings, expected] of validations) {
  test(`${count} unknown fields, ${fieldValidation}: ${warnings} warnings, ${expected}`, async () => {
    const request = verbs.request(at('configmaps'), {}, { fieldValidation })
    const unknown = Array.from({ length: count }, (_, i) => `f${i}`)
    const kind = { kind: 'ConfigMap', version: 'v1' }
    assert.equal(await outcomeOf(() => reportUnknown({ unknown }, request, kind)), expected)
    assert.equal(request.warnings.length, warnings)
    if (warnings > 0) assert.equal(request.warnings[0], 'unknown field "f0"')
  })
}

const scales: [body: object, expected: string][] = [
  [{ metadata: { name: 'a' }, spec: { replicas: 1 } }, 'none'],
  [{ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: {} }, 'none'],
  [{ kind: 'Scale', apiVersion: 'apps/v1', spec: {} }, '400 BadRequest'],
  [{ kind: 'Deployment', apiVersion: 'apps/v1' }, '400 BadRequest'],
  [{ spec: { replicas: 'x' } }, '400 BadRequest'],
]
for (const [body, expected] of scales) {
  test(`a Scale from ${JSON.stringify(body)}: ${expected}`, async () => {
    const request = verbs.request(at('deployments', 'a'), body)
    const read = () => conformAs(verbs.server, 'autoscaling/v1', 'Scale', request)
    assert.equal(await outcomeOf(read), expected)
    if (expected === 'none') assert.equal(read().kind, 'Scale')
  })
}

const names: [metadata: object, expected: string][] = [
  [{ name: 'n' }, 'none'],
  [{ name: 'n', namespace: 'default' }, 'none'],
  [{ name: 'n', namespace: '' }, 'none'],
  [{}, '400 BadRequest'],
  [{ name: '' }, '400 BadRequest'],
  [{ name: 'm' }, '400 BadRequest'],
  [{ name: 'n', namespace: 'other' }, '400 BadRequest'],
]
for (const [metadata, expected] of names) {
  test(`written to default/n with ${JSON.stringify(metadata)}: ${expected}`, async () => {
    const request = verbs.request(at('configmaps', 'n'))
    const object = { metadata } as KubeObject
    assert.equal(await outcomeOf(() => requireMatchingName(object, request, 37)), expected)
  })
}

for (const [release, expected] of [
  [23, 'the name of the object (m) does not match the name on the URL (n)'],
  [24, 'the namespace of the provided object does not match the namespace sent on the request'],
] as const)
  test(`another name and another namespace in 1.${release}`, () => {
    const request = verbs.request(at('configmaps', 'n'))
    const object = { metadata: { name: 'm', namespace: 'other' } } as KubeObject
    assert.throws(() => requireMatchingName(object, request, release), { message: expected })
  })

const places: [plural: string, namespace: string | undefined, expected: string | undefined][] = [
  ['configmaps', undefined, 'default'],
  ['configmaps', '', 'default'],
  ['configmaps', 'default', 'default'],
  ['configmaps', 'other', '400 BadRequest'],
  ['nodes', 'any', undefined],
]
for (const [plural, namespace, expected] of places) {
  test(`${plural} that say ${namespace ?? 'nothing'} land in ${expected ?? 'no namespace'}`, async () => {
    const object = { metadata: { ...(namespace !== undefined && { namespace }) } } as KubeObject
    const outcome = await outcomeOf(() => settleNamespace(at(plural).kind, object, 'default'))
    if (outcome !== 'none') assert.equal(outcome, expected)
    else assert.equal(object.metadata.namespace, expected)
  })
}

const containers = (container: object) => ({ spec: { containers: [container] } })
const field = 'Go struct field'
const faults: [release: number, plural: string, body: object | string, message: string][] = [
  [22, 'configmaps', { data: { a: 1 } }, 'v1.ConfigMap.Data: ReadString: expects "'],
  [
    23,
    'configmaps',
    { data: { a: 1 } },
    `json: cannot unmarshal number into ${field} ConfigMap.data`,
  ],
  [
    37,
    'pods',
    containers({ ports: [{ containerPort: '80' }] }),
    `json: cannot unmarshal string into ${field} ContainerPort.spec.containers.ports.containerPort of type int32`,
  ],
  [
    37,
    'pods',
    { spec: { terminationGracePeriodSeconds: 1.5 } },
    `json: cannot unmarshal number 1.5 into ${field} PodSpec.spec.terminationGracePeriodSeconds of type int64`,
  ],
  [
    37,
    'pods',
    { spec: { priority: 99999999999 } },
    `json: cannot unmarshal number 99999999999 into ${field} PodSpec.spec.priority of type int32`,
  ],
  [
    37,
    'pods',
    containers({ resources: { limits: { cpu: 'x' } } }),
    'quantities must match the regular expression',
  ],
  [
    34,
    'pods',
    containers({ livenessProbe: { httpGet: { port: {} } } }),
    `json: cannot unmarshal object into ${field} HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32`,
  ],
  [
    35,
    'pods',
    containers({ livenessProbe: { httpGet: { port: {} } } }),
    `json: cannot unmarshal object into ${field} HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32`,
  ],
  [
    34,
    'pods',
    containers({ livenessProbe: { httpGet: 1 } }),
    `json: cannot unmarshal number into ${field} ProbeHandler.spec.containers.livenessProbe.httpGet of type v1.HTTPGetAction`,
  ],
  [
    35,
    'pods',
    containers({ livenessProbe: { httpGet: 1 } }),
    `json: cannot unmarshal number into ${field} Probe.spec.containers.livenessProbe.ProbeHandler.httpGet of type v1.HTTPGetAction`,
  ],
  [
    37,
    'pods',
    '{"metadata":{"labels":7},"spec":{"priority":"x"},"metadata":[]}',
    `json: cannot unmarshal number into ${field} ObjectMeta.metadata.labels of type map[string]string`,
  ],
  [
    37,
    'pods',
    containers({ resources: { limits: 1 } }),
    `json: cannot unmarshal number into ${field} ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList`,
  ],
]
for (const [release, plural, body, message] of faults)
  test(`1.${release}: ${JSON.stringify(body)} is no object of ${plural}`, async () => {
    const written = typeof body === 'string' ? body : JSON.stringify(body)
    const newer = await startVerbs(undefined, undefined, release)
    const text = () => Buffer.from(written)
    const parsed = decodeWritten(text())
    const request = { ...newer.request(newer.target(plural), parsed as object), text }
    const { kind } = newer.target(plural).kind
    const prefix = `${kind} in version "v1" cannot be handled as a ${kind}: ${message}`
    assert.throws(
      () => decodeBody(request, newer.server),
      (error: Error) => error.message.startsWith(prefix),
    )
    await newer.stop()
  })
