/** Policies and bindings may only use parameters that their author can read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes, Authorizer } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { admin, kindOf, outcome, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Kind } from '#kinds/kind.ts'
import { parameterRights } from './parameter-rights.ts'

const alice = { name: 'alice', uid: 'a', groups: ['dev'], extra: {} }
const maps = kindOf('v1', 'configmaps')
const group = 'admissionregistration.k8s.io'
const kindOfType = (kind: string, plural: string): Kind => ({ ...maps, group, kind, plural })
const policyKind = kindOfType('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
const bindingKind = kindOfType(
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }

/** The object, its writer, the stored objects, the access check, and the result. */
const cases: [string, Kind, Loose, typeof admin, Loose | undefined, string | undefined, RegExp][] =
  [
    ['a policy without parameters', policyKind, {}, alice, undefined, undefined, /^admitted$/],
    [
      'a policy of an administrator',
      policyKind,
      { paramKind },
      admin,
      undefined,
      undefined,
      /^admitted$/,
    ],
    [
      'a policy with parameters',
      policyKind,
      { paramKind },
      alice,
      undefined,
      'get v1/configmaps */*',
      /spec.paramKind: Forbidden: user &\{alice a \[dev\] map\[\]\} must have "get" permission on all objects of the referenced paramKind \(kind=ConfigMap, apiVersion=v1\)$/,
    ],
    [
      'a policy that keeps its parameters',
      policyKind,
      { paramKind },
      alice,
      { paramKind },
      undefined,
      /^admitted$/,
    ],
    [
      'a binding by name',
      bindingKind,
      { policyName: 'known', paramRef: { name: 'n', namespace: 'ns' } },
      alice,
      undefined,
      'get v1/configmaps ns/n',
      /spec.paramRef: Forbidden: .* does not have "get" permission on the object referenced by paramRef$/,
    ],
    [
      'a binding by labels',
      bindingKind,
      { policyName: 'known', paramRef: { selector: {} } },
      alice,
      undefined,
      'list v1/configmaps /',
      /does not have "list" permission on the object referenced by paramRef$/,
    ],
    [
      'a binding of an unknown policy',
      bindingKind,
      { policyName: 'unknown', paramRef: { name: 'n' } },
      alice,
      undefined,
      'get */* /n',
      /unable to get policy unknown to determine minimum required permissions and user .* for all groups/,
    ],
  ]
for (const [title, kind, spec, user, oldSpec, requested, expected] of cases)
  test(title, async () => {
    const seen: string[] = []
    const authorizer: Authorizer = {
      name: 'none',
      authorize({ verb, version, resource, namespace, name }: Attributes) {
        seen.push(`${verb} ${version}/${resource} ${namespace}/${name}`)
        return { decision: 'none', reason: '' }
      },
    }
    const kindNamed = (_: string, name: string) => (name === 'ConfigMap' ? maps : undefined)
    const reader = new MemoryReader()
    const known = { metadata: { name: 'known' }, spec: { paramKind } }
    reader.put(group, 'validatingadmissionpolicies', known)
    const plugin = parameterRights({ authorizer, kindNamed })
    const old = oldSpec && { metadata: { name: 'p' }, spec: oldSpec }
    const request = requestOf(
      old ? 'UPDATE' : 'CREATE',
      kind,
      { metadata: { name: 'p' }, spec },
      { user, old },
    )
    assert.match(await outcome(plugin, request, reader), expected)
    assert.deepEqual(seen, requested === undefined ? [] : [requested])
  })
