import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { ApiError } from '#api/status-error.ts'
import type { AdmissionRequest } from './admission.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'

const reader = new MemoryReader()
reader.put('', 'namespaces', { metadata: { name: 'ns' }, status: { phase: 'Active' } } as never)
reader.put('', 'namespaces', {
  metadata: { name: 'ending' },
  status: { phase: 'Terminating' },
} as never)
reader.put('', 'namespaces', {
  metadata: { name: 'marked', deletionTimestamp: '2024-05-01T00:00:00Z' },
})
const namespaces = kindOf('v1', 'namespaces')
const inside = (namespace: string, operation: AdmissionRequest['operation'] = 'CREATE') =>
  requestOf(operation, podKind, pod(), { namespace })
const remove = (name: string, kind = namespaces) =>
  requestOf('DELETE', kind, undefined, { name, namespace: name })
const ending = (name: string) =>
  `403 pods "p" is forbidden: unable to create new content in namespace ${name} because it is being terminated`

const cases: [name: string, request: AdmissionRequest, expected: string][] = [
  ['created in a namespace', inside('ns'), 'admitted'],
  ['created in none', inside('gone'), '404 namespaces "gone" not found'],
  ['created in a terminating namespace', inside('ending'), ending('ending')],
  ['created where deletion has begun', inside('marked'), ending('marked')],
  ['changed in a terminating namespace', inside('ending', 'UPDATE'), 'admitted'],
  ['deleted in a terminating namespace', inside('ending', 'DELETE'), 'admitted'],
  [
    'a review of access to no namespace',
    requestOf(
      'CREATE',
      kindOf('authorization.k8s.io/v1', 'localsubjectaccessreviews'),
      {},
      { namespace: 'gone' },
    ),
    'admitted',
  ],
  [
    'a namespace itself',
    requestOf('CREATE', namespaces, { metadata: { name: 'new' } }, { namespace: 'new' }),
    'admitted',
  ],
  [
    'a cluster’s object',
    requestOf('CREATE', kindOf('v1', 'nodes'), { metadata: { name: 'n' } }),
    'admitted',
  ],
  ...['default', 'kube-system', 'kube-public'].map((name): (typeof cases)[number] => [
    `deleting ${name}`,
    remove(name),
    `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
  ]),
  ['deleting kube-node-lease', remove('kube-node-lease'), 'admitted'],
  [
    'deleting something else called default',
    remove('default', kindOf('v1', 'services')),
    'admitted',
  ],
]
for (const [name, request, expected] of cases)
  test(name, async () =>
    assert.equal(await outcome(namespaceLifecycle(22), request, reader), expected),
  )

const cause = {
  reason: 'NamespaceTerminating',
  message: 'namespace ending is being terminated',
  field: 'metadata.namespace',
}
for (const [release, causes] of [
  [16, undefined],
  [17, [cause]],
  [22, [cause]],
] as const)
  test(`1.${release}: ${causes ? 'the' : 'no'} cause says which namespace goes away`, async () => {
    await assert.rejects(
      async () => namespaceLifecycle(release).mutate?.(inside('ending'), reader),
      (error: ApiError) => {
        assert.deepEqual(error.details?.causes, causes)
        return true
      },
    )
  })
