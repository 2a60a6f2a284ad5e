/** Secrets, nodes, quotas and slices of endpoints on both sides of changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { contextFor, inDefault, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { endpointSliceBehaviour } from '#kinds/discovery/endpoint-slice/behaviour.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { networkPolicyBehaviour } from '#kinds/networking/network-policy/behaviour.ts'
import { nodeBehaviour } from './node/behaviour.ts'
import { resourceQuotaBehaviour } from './resource-quota/behaviour.ts'
import { secretBehaviour } from './secret/behaviour.ts'

const lines = (of: Behaviour, made: KubeObject, release: number): string[] =>
  linesOf(of.validateCreate?.(made, contextFor({ release })) ?? [])
const first = (of: Behaviour, made: KubeObject, release: number) => lines(of, made, release)[0]

test('secrets', () => {
  const secret = inDefault({ type: 'kubernetes.io/ssh-auth' })
  assert.equal(first(secretBehaviour, secret, 23), 'data[%s][ssh-privatekey]: Required value')
  assert.equal(first(secretBehaviour, secret, 24), 'data[ssh-privatekey]: Required value')
})

test('nodes', () => {
  const node = (spec: Loose) => named({ spec })
  const wrong = node({ podCIDRs: ['x'] })
  const path = 'spec.podCIDRs[0]: Invalid value:'
  assert.equal(first(nodeBehaviour, wrong, 29), `${path} []string{"x"}: must be valid CIDR`)
  const examples = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  assert.equal(first(nodeBehaviour, wrong, 30), `${path} "x": ${examples}`)
  const warnings = (spec: Loose, release: number) =>
    nodeBehaviour.warningsOnCreate?.(node(spec), contextFor({ release }))
  const external = 'spec.externalID: this field is deprecated, and is unused by Kubernetes'
  assert.deepEqual(warnings({ externalID: 'a' }, 26), [])
  assert.deepEqual(warnings({ externalID: 'a' }, 27), [external])
  assert.match(warnings({ configSource: {} }, 25)?.[0] ?? '', /deprecated in v1\.22/)
  assert.match(warnings({ configSource: {} }, 26)?.[0] ?? '', /the feature is removed/)
  assert.equal(warnings({ podCIDRs: ['010.0.0.0/8'] }, 32)?.length, 0)
  assert.equal(warnings({ podCIDRs: ['010.0.0.0/8'] }, 33)?.length, 1)
})

test('a changed provider of a node', () => {
  const problems = (providerID: string | undefined, release: number) => {
    const next = named({ spec: { providerID } })
    const old = named({ spec: { providerID: 'a' } })
    return linesOf(nodeBehaviour.validateUpdate?.(next, old, contextFor({ release })) ?? [])
  }
  const older =
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'
  const newer = 'spec.providerID: Invalid value: "null": field cannot be'
  assert.deepEqual(problems('b', 36), [older])
  assert.deepEqual(problems(undefined, 36), [older])
  assert.deepEqual(problems('b', 37), [`${newer} modified once set`])
  assert.deepEqual(problems(undefined, 37), [`${newer} cleared once set`])
})

test('quotas', () => {
  const quota = inDefault({ spec: { hard: { pods: '1' }, scopes: ['VolumeAttributesClass'] } })
  assert.match(first(resourceQuotaBehaviour, quota, 32) ?? '', /unsupported scope$/)
  assert.match(first(resourceQuotaBehaviour, quota, 33) ?? '', /applied to resource$/)
})

test('slices of endpoints', () => {
  const slice = (address: string) =>
    inDefault({ addressType: 'IPv4', endpoints: [{ addresses: [address] }] })
  const path = 'endpoints[0].addresses'
  const plain = `${path}[0]: Invalid value: "x": must be a valid IPv4 address`
  assert.equal(first(endpointSliceBehaviour, slice('x'), 32), plain)
  const examples = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
  assert.equal(
    first(endpointSliceBehaviour, slice('x'), 33),
    `${path}[0]: Invalid value: "x": ${examples}`,
  )
  assert.deepEqual(lines(endpointSliceBehaviour, slice('fd00::1'), 33), [
    `${path}: Invalid value: "fd00::1": must be an IPv4 address`,
  ])
})

test('new labels of slices of endpoints', () => {
  const generation = (release: number) => {
    const slice = (labels: Loose) => named({ addressType: 'IPv4' }, { labels, generation: 1 })
    const next = slice({ a: 'c' })
    endpointSliceBehaviour.prepareForUpdate?.(next, slice({ a: 'b' }), contextFor({ release }))
    return next.metadata.generation
  }
  assert.equal(generation(20), 1)
  assert.equal(generation(21), 2)
})

test('the end of a range of ports', () => {
  const policy = inDefault({ spec: { ingress: [{ ports: [{ port: 80, endPort: 1 }] }] } })
  const shown = (release: number) => first(networkPolicyBehaviour, policy, release)?.split(': ')[2]
  assert.deepEqual([shown(36), shown(37)], ['80', '1'])
})
