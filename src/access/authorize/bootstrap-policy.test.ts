import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { alreadyExists } from '#api/status-error.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { bootstrapPolicy, nodeRules } from './bootstrap-policy.ts'
import { reconcile, reconcileBootstrapPolicy } from './reconcile.ts'

const named = (release: number, kind: string, name: string) =>
  bootstrapPolicy(release).find((one) => one.kind === kind && one.metadata.name === name)

const counts: [number, number][] = [
  [15, 103],
  [16, 103],
  [17, 101],
  [18, 107],
  [19, 109],
  [20, 115],
  [21, 119],
  [22, 119],
  [28, 119],
  [29, 121],
  [30, 123],
  [33, 127],
  [34, 131],
  [36, 133],
  [37, 141],
]
for (const [release, count] of counts)
  test(`1.${release} has ${count} roles and bindings, none twice, every rule usable`, () => {
    const policy = bootstrapPolicy(release)
    assert.equal(policy.length, count)
    const keys = policy.map((one) => `${one.kind} ${one.metadata.namespace} ${one.metadata.name}`)
    assert.equal(new Set(keys).size, count)
    for (const { kind, rules, aggregationRule, roleRef } of policy) {
      if (kind === 'ClusterRole' || kind === 'Role') {
        assert.ok(aggregationRule !== undefined ? rules === null : rules.length > 0)
        for (const one of rules ?? []) {
          assert.ok(one.verbs.length > 0)
          assert.equal(one.since ?? one.until, undefined)
        }
      } else assert.equal(roleRef.apiGroup, 'rbac.authorization.k8s.io')
    }
  })

test('objects equal those of kube-apiserver', () => {
  assert.deepEqual(named(22, 'ClusterRole', 'system:basic-user'), {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: {
      name: 'system:basic-user',
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    rules: [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
    ],
  })
  assert.deepEqual(named(22, 'ClusterRole', 'view')?.aggregationRule, {
    clusterRoleSelectors: [
      { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    ],
  })
  assert.deepEqual(named(22, 'ClusterRoleBinding', 'cluster-admin')?.subjects, [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:masters' },
  ])
  assert.equal(named(22, 'ClusterRoleBinding', 'system:node')?.subjects, undefined)
})

test('releases differ as those of kube-apiserver do', () => {
  assert.equal(named(19, 'ClusterRole', 'system:monitoring'), undefined)
  assert.ok(named(20, 'ClusterRole', 'system:monitoring'))
  assert.ok(named(16, 'ClusterRole', 'system:csi-external-provisioner'))
  assert.equal(named(17, 'ClusterRole', 'system:csi-external-provisioner'), undefined)
  assert.ok(nodeRules(22).length > 10)
  const discovery = 'system:cluster-trust-bundle-discovery'
  assert.equal(named(36, 'ClusterRole', discovery), undefined)
  assert.ok(named(37, 'ClusterRole', discovery))
  assert.equal(nodeRules(37).length - nodeRules(36).length, 2)
})

test('callers get their own copies', () => {
  const first = named(22, 'ClusterRole', 'system:basic-user') as KubeObject
  first.rules[0].verbs.push('delete')
  assert.deepEqual(named(22, 'ClusterRole', 'system:basic-user')?.rules[0].verbs, ['create'])
})

const expectedRole = () => named(22, 'ClusterRole', 'system:basic-user') as KubeObject
const expectedBinding = () => named(22, 'ClusterRoleBinding', 'system:basic-user') as KubeObject
const change = (object: KubeObject, edit: (object: KubeObject) => void): KubeObject => {
  edit(object)
  return object
}

test('reconciling: sufficient objects are unchanged', () => {
  const more = change(expectedRole(), (one) => {
    one.rules.push({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    one.metadata.labels = { ...one.metadata.labels, mine: 'yes' }
    one.metadata.resourceVersion = '7'
  })
  assert.equal(reconcile(expectedRole(), more), undefined)
  const view = named(22, 'ClusterRole', 'view') as KubeObject
  const aggregated = change(structuredClone(view), (one) => {
    one.rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
  })
  assert.equal(reconcile(view, aggregated), undefined)
})

test('reconciling: removed permissions are restored, added ones stay', () => {
  const existing = change(expectedRole(), (one) => {
    one.rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
    one.metadata.labels = {}
  })
  const write = reconcile(expectedRole(), existing)
  assert.equal(write?.operation, 'update')
  assert.deepEqual(write?.object.rules, [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews'],
    },
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectrulesreviews'],
    },
  ])
  assert.deepEqual(write?.object.metadata.labels, {
    'kubernetes.io/bootstrapping': 'rbac-defaults',
  })
  assert.deepEqual(existing.metadata.labels, {}, 'the existing object is not changed')
})

test('reconciling: protected objects are never written', () => {
  const existing = change(expectedRole(), (one) => {
    one.rules = []
    one.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  })
  assert.equal(reconcile(expectedRole(), existing), undefined)
})

test('reconciling bindings: subjects are restored, another role causes a new binding', () => {
  const fewer = change(expectedBinding(), (one) => {
    one.subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'me' }]
  })
  assert.deepEqual(
    reconcile(expectedBinding(), fewer)?.object.subjects.map(({ name }: { name: string }) => name),
    ['me', 'system:authenticated'],
  )
  const other = change(expectedBinding(), (one) => {
    one.roleRef.name = 'other'
  })
  assert.equal(reconcile(expectedBinding(), other)?.operation, 'replace')
})

test('a start creates everything, a second start writes nothing, a lost race is retried', async () => {
  const reader = new MemoryReader()
  const group = 'rbac.authorization.k8s.io'
  let writes = 0
  let raced = false
  const namespaces = new Set<string>()
  const put = async (plural: string, object: KubeObject) => {
    writes++
    reader.put(group, plural, object)
    if (raced) return
    raced = true
    throw alreadyExists({ group, plural }, object.metadata.name ?? '')
  }
  const writer = {
    ensureNamespace: async (name: string) => void namespaces.add(name),
    create: put,
    update: put,
    delete: async (plural: string, { metadata }: KubeObject) =>
      reader.remove(group, plural, metadata.namespace ?? '', metadata.name ?? ''),
  }
  await reconcileBootstrapPolicy(22, reader, writer)
  assert.equal(writes, 119)
  assert.deepEqual([...namespaces].sort(), ['kube-public', 'kube-system'])
  await reconcileBootstrapPolicy(22, reader, writer)
  assert.equal(writes, 119)
})

test('rules of a role from before aggregation move to the role that it aggregates', async () => {
  const reader = new MemoryReader()
  const group = 'rbac.authorization.k8s.io'
  const own = { verbs: ['get'], apiGroups: ['mine'], resources: ['things'] }
  reader.put(group, 'clusterroles', {
    kind: 'ClusterRole',
    metadata: { name: 'view' },
    rules: [own],
  })
  const put = async (plural: string, object: KubeObject) => reader.put(group, plural, object)
  await reconcileBootstrapPolicy(22, reader, {
    ensureNamespace: async () => {},
    create: put,
    update: put,
    delete: async () => {},
  })
  const moved = await reader.get(group, 'clusterroles', '', 'system:aggregate-to-view')
  assert.deepEqual(moved?.rules[0], own)
})
