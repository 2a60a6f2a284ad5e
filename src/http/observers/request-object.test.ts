/**
 * Protobuf bodies are recorded as their own kind, which for a subresource may differ from the kind
 * of its object.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { encodeObject } from '#codec/protobuf.ts'
import type { Exchange } from '#http/exchange.ts'
import { writeRequest } from '#http/request/write-request.ts'
import { type Served, startServed } from '#http/served.fixture.ts'
import type { Type } from '#schema/type.ts'
import { requestText, sentObject } from './request-object.ts'

let served: Served
before(async () => {
  served = await startServed()
})
after(() => served.stop())

const name = 'a'
const written = { name, creationTimestamp: null }
const header = (kind: string, apiVersion: string) => ({ kind, apiVersion, metadata: { name } })

const cases: [plural: string, subresource: string, verb: string, sent: Loose, filledIn?: Loose][] =
  [
    ['pods', 'binding', 'create', { ...header('Binding', 'v1'), target: { name: 'n' } }],
    [
      'pods',
      'eviction',
      'create',
      { ...header('Eviction', 'policy/v1'), deleteOptions: { gracePeriodSeconds: 0 } },
    ],
    [
      'replicationcontrollers',
      'scale',
      'update',
      { ...header('Scale', 'autoscaling/v1'), spec: { replicas: 3 }, status: { replicas: 0 } },
    ],
    [
      'serviceaccounts',
      'token',
      'create',
      {
        ...header('TokenRequest', 'authentication.k8s.io/v1'),
        spec: { audiences: ['x'], expirationSeconds: 3600, boundObjectRef: null },
        status: { token: '', expirationTimestamp: null },
      },
    ],
    [
      'serviceaccounts',
      'token',
      'create',
      {
        ...header('TokenRequest', 'authentication.k8s.io/v1'),
        spec: { audiences: ['x'], boundObjectRef: null },
        status: { token: '', expirationTimestamp: null },
      },
      { spec: { audiences: ['x'], expirationSeconds: 3600, boundObjectRef: null } },
    ],
    ['configmaps', '', 'create', { ...header('ConfigMap', 'v1'), data: { k: 'v' } }],
  ]
for (const [plural, subresource, verb, sent, filledIn = {}] of cases) {
  test(`${plural}/${subresource} ${Object.keys(filledIn)}`, async () => {
    const { server } = served.parts
    const kind = served.kind('', 'v1', plural)
    const exchange = {
      wire: { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } },
      query: new URLSearchParams(),
      target: { verb, subresource },
      body: encodeObject(server.typeNamed(sent['apiVersion'], sent['kind']) as Type, sent),
      kind,
    } as unknown as Exchange
    const target = { kind, namespace: 'default', name, subresource }
    await writeRequest(exchange, served.parts, target, verb)
    const reported = JSON.parse(
      requestText(exchange, sentObject(exchange), releaseOf(22)) ?? 'null',
    )
    assert.deepEqual(reported, { ...sent, ...filledIn, metadata: written })
  })
}
