import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiError } from '#api/status-error.ts'
import type { User } from '#access/user.ts'
import { type RoleWrite, refuseEscalation } from './escalation.ts'
import { RbacAuthorizer } from './rbac.ts'

const apiGroup = 'rbac.authorization.k8s.io'
const alice: User = { name: 'alice', uid: '', groups: ['dev', 'system:authenticated'], extra: {} }

/** Alice may get and list pods in n, and also what `more` allows. */
function rbacWith(...more: object[]): RbacAuthorizer {
  const rbac = new RbacAuthorizer()
  rbac.changed('roles', {
    metadata: { name: 'own', namespace: 'n' },
    rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }, ...more],
  })
  rbac.changed('rolebindings', {
    metadata: { name: 'own', namespace: 'n' },
    subjects: [{ kind: 'User', name: 'alice' }],
    roleRef: { kind: 'Role', name: 'own' },
  })
  rbac.changed('clusterroles', {
    metadata: { name: 'secrets' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }],
  })
  rbac.changed('clusterroles', {
    metadata: { name: 'pods' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  })
  return rbac
}

const rules = (...list: object[]): KubeObject => ({ metadata: { name: 'r' }, rules: list })
const binding = (kind: string, name: string): KubeObject => ({
  metadata: { name: 'b' },
  roleRef: { apiGroup, kind, name },
})

async function attempt(write: Partial<RoleWrite>, rbac = rbacWith()): Promise<string> {
  const whole: RoleWrite = {
    user: alice,
    plural: 'roles',
    namespace: 'n',
    name: '',
    object: rules(),
    old: undefined,
    ...write,
  }
  try {
    await refuseEscalation(whole, rbac, rbac)
    return 'allowed'
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`
  }
}

const podsGet = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const secretsAll = {
  verbs: ['get', 'list', 'watch'],
  apiGroups: [''],
  resources: ['secrets', 'pods'],
}
const lacking = (plural: string, name: string, ...lines: string[]) =>
  `403 ${plural}.${apiGroup} "${name}" is forbidden: user "alice" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`

test('users may grant their own permissions', async () => {
  assert.equal(await attempt({ object: rules(podsGet) }), 'allowed')
  assert.equal(await attempt({ object: rules({ ...podsGet, resourceNames: ['x'] }) }), 'allowed')
})

const rule = (verbs: string, groups: string, resources: string, names = '') => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(','),
  resources: resources.split(','),
  ...(names !== '' && { resourceNames: names.split(',') }),
})
const urls = (...nonResourceURLs: string[]) => ({ verbs: ['get'], nonResourceURLs })
const coverage: [owned: object, granted: object, allowed: boolean][] = [
  [rule('*', '*', '*'), rule('delete', 'apps', 'deployments/scale', 'x'), true],
  [rule('get', '', '*/log'), rule('get', '', 'pods/log'), true],
  [rule('get', '', '*/log'), rule('get', '', 'pods/log,nodes/log'), true],
  [rule('get', '', '*/log'), rule('get', '', 'pods/exec'), false],
  [rule('get', '', '*/log'), rule('get', '', 'secrets'), false],
  [rule('get', '', 'pods/*'), rule('get', '', 'pods/log'), false],
  [rule('get', '', 'pods/log'), rule('get', '', '*/log'), false],
  [rule('get', '', 'secrets'), rule('get', 'apps', 'secrets'), false],
  [rule('get', '*', 'secrets'), rule('get', 'apps', 'secrets'), true],
  [rule('get', '', 'secrets'), rule('get', '*', 'secrets'), false],
  [rule('get', '', 'secrets'), rule('*', '', 'secrets'), false],
  [rule('get', '', 'secrets'), rule('get', '', '*'), false],
  [rule('get', '', 'secrets', 'a,b'), rule('get', '', 'secrets', 'b'), true],
  [rule('get', '', 'secrets', 'a,b'), rule('get', '', 'secrets', 'b,c'), false],
  [rule('get', '', 'secrets', 'a,b'), rule('get', '', 'secrets'), false],
  [rule('get', '', 'secrets'), rule('get', '', 'secrets', 'c'), true],
  [urls('/healthz/*'), urls('/healthz/etcd'), true],
  [urls('/healthz/*'), urls('/healthz'), false],
  [urls('/healthz/*'), urls('/healthz/*'), true],
  [urls('/healthz/etcd'), urls('/healthz/*'), false],
  [urls('*'), urls('/healthz', '/metrics'), true],
]
for (const [owned, granted, allowed] of coverage)
  test(`${JSON.stringify(owned)} ${allowed ? 'covers' : 'does not cover'} ${JSON.stringify(granted)}`, async () => {
    const stated = await attempt({ object: rules(granted) }, rbacWith(owned))
    assert.equal(stated === 'allowed', allowed, stated)
  })

test('a rule for millions of permissions delays no other request', async () => {
  const many = (prefix: string) => Array.from({ length: 1000 }, (_, i) => `${prefix}${i}`)
  const rule = { verbs: ['get', 'list'], apiGroups: many('g'), resources: many('r') }
  const beganAt = performance.now()
  const refused = await attempt({ object: rules(rule) })
  assert.match(refused, /^403 .*more than 100000 RBAC permissions .*cannot be granted at once$/)
  assert.ok(performance.now() - beganAt < 1000)
  // A user with all permissions may grant them.
  assert.equal(await attempt({ object: rules(rule) }, rbacWith(rule)), 'allowed')
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  assert.equal(await attempt({ object: rules(rule) }, rbacWith(all)), 'allowed')
})

test('missing permissions are merged only if they differ in nothing but the verb', async () => {
  const stated = await attempt({
    object: rules(
      rule('get', '', 'secrets', 'a'),
      rule('list', '', 'secrets', 'a'),
      rule('get', '', 'secrets', 'b'),
      rule('get', 'apps', 'secrets'),
    ),
  })
  assert.equal(
    stated,
    lacking(
      'roles',
      'r',
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get"]}',
    ),
  )
})

test('missing permissions are listed with combined verbs and sorted lines', async () => {
  assert.equal(
    await attempt({ object: rules(secretsAll, { verbs: ['get'], nonResourceURLs: ['/x'] }) }),
    lacking(
      'roles',
      'r',
      '{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ),
  )
})

test('permission for one name is not permission for all', async () => {
  const rbac = rbacWith({
    verbs: ['get'],
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['x'],
  })
  const secrets = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] }
  assert.match(await attempt({ object: rules(secrets) }, rbac), /^403/)
  assert.equal(
    await attempt({ object: rules({ ...secrets, resourceNames: ['x'] }) }, rbac),
    'allowed',
  )
})

test('wildcards cover what they allow', async () => {
  const rbac = rbacWith({ verbs: ['*'], apiGroups: ['*'], resources: ['*/scale'] })
  const scale = { verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments/scale'] }
  assert.equal(await attempt({ object: rules(scale) }, rbac), 'allowed')
  assert.match(
    await attempt({ object: rules({ ...scale, resources: ['deployments'] }) }, rbac),
    /^403/,
  )
})

test('system:masters and users with the right to escalate need no further rights', async () => {
  const masters = { ...alice, groups: ['system:masters'] }
  assert.equal(await attempt({ user: masters, object: rules(secretsAll) }), 'allowed')
  const rbac = rbacWith({ verbs: ['escalate'], apiGroups: [apiGroup], resources: ['roles'] })
  assert.equal(await attempt({ object: rules(secretsAll) }, rbac), 'allowed')
  assert.match(await attempt({ object: rules(secretsAll), namespace: 'm' }, rbac), /^403/)
})

test('an update is checked for the resulting rules, unless only ownership changes', async () => {
  const old = rules(secretsAll)
  const freed = { ...old, metadata: { ...old.metadata, finalizers: [], ownerReferences: [] } }
  const owned = { ...old, metadata: { ...old.metadata, finalizers: ['x'] } }
  assert.equal(await attempt({ name: 'r', object: freed, old: owned }), 'allowed')
  const labelled = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }
  assert.match(await attempt({ name: 'r', object: labelled, old }), /^403/)
  assert.equal(await attempt({ name: 'r', object: rules(podsGet), old }), 'allowed')
})

test('an aggregated role needs all permissions', async () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
  const write = { plural: 'clusterroles', namespace: '' } as const
  const refusal = `403 clusterroles.${apiGroup} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`
  assert.equal(await attempt({ ...write, object: { ...rules(), aggregationRule } }), refusal)
  assert.equal(
    await attempt({ ...write, name: 'r', object: rules(), old: { ...rules(), aggregationRule } }),
    refusal,
  )
})

test('a binding grants the permissions of its role', async () => {
  const write = { plural: 'rolebindings' } as const
  assert.equal(await attempt({ ...write, object: binding('ClusterRole', 'pods') }), 'allowed')
  assert.equal(
    await attempt({ ...write, object: binding('ClusterRole', 'secrets') }),
    lacking('rolebindings', 'b', '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
  )
  assert.equal(
    await attempt({ ...write, object: binding('ClusterRole', 'none') }),
    `404 clusterroles.${apiGroup} "none" not found`,
  )
  assert.equal(
    await attempt({ ...write, object: binding('Role', 'none') }),
    `404 roles.${apiGroup} "none" not found`,
  )
})

test('users who may bind a role need not have its permissions', async () => {
  const rbac = rbacWith({
    verbs: ['bind'],
    apiGroups: [apiGroup],
    resources: ['clusterroles'],
    resourceNames: ['secrets', 'none'],
  })
  const write = { plural: 'rolebindings' } as const
  for (const name of ['secrets', 'none'])
    assert.equal(await attempt({ ...write, object: binding('ClusterRole', name) }, rbac), 'allowed')
  const cluster = { plural: 'clusterrolebindings', namespace: '' } as const
  assert.match(
    await attempt({ ...cluster, object: binding('ClusterRole', 'secrets') }, rbac),
    /^403/,
  )
})

test('a failed lookup is reported too', async () => {
  const rbac = rbacWith()
  rbac.changed('rolebindings', {
    metadata: { name: 'x', namespace: 'n' },
    subjects: [{ kind: 'Group', name: 'dev' }],
    roleRef: { kind: 'Role', name: 'gone' },
  })
  assert.match(
    await attempt({ object: rules(secretsAll) }, rbac),
    /; resolution errors: \[roles\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
  )
})
