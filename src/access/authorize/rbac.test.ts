import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { User } from '#access/user.ts'
import type { PolicyRule } from './policy-rule.ts'
import { RbacAuthorizer } from './rbac.ts'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const alice = user('alice', 'dev', 'system:authenticated')

/** `get pods/log.apps one` in a namespace, or `get /healthz`. */
function ask(who: User, what: string, namespace = ''): Attributes {
  const [verb = '', target = '', name = ''] = what.split(' ')
  const isResource = !target.startsWith('/')
  const [path = '', ...group] = target.split('.')
  const [resource = '', subresource = ''] = isResource ? path.split('/') : []
  return {
    user: who,
    verb,
    isResource,
    group: isResource ? group.join('.') : '',
    version: 'v1',
    resource,
    subresource,
    namespace,
    name,
    path: isResource ? '' : target,
  }
}

const rule = (verbs: string, groups: string, resources: string, names = ''): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(','),
  resources: resources.split(','),
  ...(names !== '' && { resourceNames: names.split(',') }),
})
const urls = (verbs: string, paths: string): PolicyRule => ({
  verbs: verbs.split(','),
  nonResourceURLs: paths.split(','),
})

const role = (name: string, rules: PolicyRule[], namespace?: string) => ({
  metadata: { name, ...(namespace && { namespace }) },
  rules,
})
const binding = (name: string, roleRef: string, subjects: string[], namespace?: string) => {
  const [kind, roleName] = roleRef.split(' ')
  return {
    metadata: { name, ...(namespace && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects: subjects.map((text) => {
      const [subjectKind, subjectName, subjectNamespace] = text.split(' ')
      return {
        kind: subjectKind as string,
        name: subjectName as string,
        ...(subjectNamespace && { namespace: subjectNamespace }),
      }
    }),
  }
}

function authorizerOf(...rules: PolicyRule[]): RbacAuthorizer {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterroles', role('r', rules))
  rbac.changed('clusterrolebindings', binding('b', 'ClusterRole r', ['User alice']))
  return rbac
}

const matching: [PolicyRule, string, boolean][] = [
  [rule('get', '', 'pods'), 'get pods', true],
  [rule('get', '', 'pods'), 'list pods', false],
  [rule('get', '', 'pods'), 'get pods.apps', false],
  [rule('get', '', 'pods'), 'get pods/log', false],
  [rule('get', '', 'pods/log'), 'get pods/log x', true],
  [rule('get', '', 'pods/*'), 'get pods/log', false],
  [rule('get', '', '*/log'), 'get pods/log', true],
  [rule('get', '', '*/log'), 'get pods', false],
  [rule('get', '', '*/og'), 'get pods/log', false],
  [rule('get', '', '*/dog'), 'get pods/log', false],
  [rule('get', '', 'xxlog'), 'get pods/log', false],
  [rule('get', '', '*/'), 'get pods', false],
  [rule('get', '', '*/log'), 'get pods.apps', false],
  [rule('get', 'apps', '*/log'), 'get pods/log', false],
  [{ verbs: ['get'], apiGroups: [''] }, 'get pods', false],
  [{ verbs: ['get'], resources: ['pods'] }, 'get pods', false],
  [{ verbs: [], apiGroups: ['*'], resources: ['*'] }, 'get pods', false],
  [{ ...rule('get', '', 'pods'), resourceNames: [] }, 'get pods one', true],
  [{ ...rule('get', '', 'pods'), resourceNames: ['*'] }, 'get pods one', false],
  [rule('get', '', '*'), 'get pods/log', true],
  [rule('*', '*', '*'), 'delete widgets.example.com a', true],
  [rule('*', '*', '*'), 'get /healthz', false],
  [rule('get', '', 'pods', 'one'), 'get pods one', true],
  [rule('get', '', 'pods', 'one'), 'get pods two', false],
  [rule('list', '', 'pods', 'one'), 'list pods', false],
  [urls('get', '/healthz'), 'get /healthz', true],
  [urls('get', '/healthz'), 'get /healthz/', false],
  [urls('get', '/api/*'), 'get /api/v1', true],
  [urls('get', '/api/*'), 'get /api', false],
  [urls('get', '/api**'), 'get /apis', true],
  [urls('get', '*'), 'get /metrics', true],
  [urls('get', '*'), 'get pods', false],
  [urls('get', '/a*b'), 'get /axb', false],
]
for (const [one, what, expected] of matching)
  test(`${JSON.stringify(one)} ${expected ? 'allows' : 'does not allow'} ${what}`, () => {
    const { decision } = authorizerOf(one).authorize(ask(alice, what))
    assert.equal(decision, expected ? 'allow' : 'none')
  })

test('the reason is the binding that allows, with the first matching subject', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterroles', role('view', [rule('get', '', 'pods')]))
  rbac.changed('roles', role('edit', [rule('update', '', 'pods')], 'n'))
  rbac.changed(
    'clusterrolebindings',
    binding('all', 'ClusterRole view', ['Group ops', 'Group dev', 'User alice']),
  )
  rbac.changed('rolebindings', binding('b', 'Role edit', ['User alice'], 'n'))
  rbac.changed('rolebindings', binding('s', 'Role edit', ['ServiceAccount bot'], 'n'))
  const reason = (who: User, what: string) => rbac.authorize(ask(who, what, 'n')).reason
  assert.equal(
    reason(alice, 'get pods'),
    'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "view" to Group "dev"',
  )
  assert.equal(
    reason(user('alice'), 'get pods'),
    'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "view" to User "alice"',
  )
  assert.equal(
    reason(alice, 'update pods'),
    'RBAC: allowed by RoleBinding "b/n" of Role "edit" to User "alice"',
  )
  assert.equal(
    reason(user('system:serviceaccount:n:bot'), 'update pods'),
    'RBAC: allowed by RoleBinding "s/n" of Role "edit" to ServiceAccount "bot/n"',
  )
})

test('a role binding is valid only in its namespace', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterroles', role('view', [rule('get', '', '*'), urls('get', '*')]))
  rbac.changed('rolebindings', binding('b', 'ClusterRole view', ['User alice'], 'n'))
  const cases: [string, string, string][] = [
    ['get pods', 'n', 'allow'],
    ['get pods', 'm', 'none'],
    ['get pods', '', 'none'],
    ['get /healthz', '', 'none'],
  ]
  for (const [what, namespace, expected] of cases)
    assert.equal(rbac.authorize(ask(alice, what, namespace)).decision, expected, what)
})

test('a role with the same name in another namespace is not used', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('roles', role('r', [rule('*', '*', '*')], 'other'))
  rbac.changed('rolebindings', binding('b', 'Role r', ['User alice'], 'n'))
  assert.deepEqual(rbac.authorize(ask(alice, 'get pods', 'n')), {
    decision: 'none',
    reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found',
  })
})

test('missing roles are the reason of a denial, each listed once', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterrolebindings', binding('a', 'ClusterRole x', ['User alice']))
  rbac.changed('clusterrolebindings', binding('b', 'ClusterRole x', ['Group dev']))
  rbac.changed('rolebindings', binding('c', 'Role y', ['User alice'], 'n'))
  assert.equal(
    rbac.authorize(ask(alice, 'get pods', 'n')).reason,
    'RBAC: [clusterrole.rbac.authorization.k8s.io "x" not found, role.rbac.authorization.k8s.io "y" not found]',
  )
})

test('invalid subjects match no user', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterroles', role('r', [rule('*', '*', '*')]))
  rbac.changed(
    'clusterrolebindings',
    binding('b', 'ClusterRole r', ['ServiceAccount bot', 'Robot alice', 'User dev', 'Group alice']),
  )
  for (const who of [alice, user('system:serviceaccount::bot'), user('bot')])
    assert.equal(rbac.authorize(ask(who, 'get pods')).decision, 'none')
})

test('decisions follow changes of roles and bindings at once', async () => {
  const reader = new MemoryReader()
  const group = 'rbac.authorization.k8s.io'
  reader.put(group, 'clusterroles', role('r', [rule('get', '', 'pods')]))
  const rbac = new RbacAuthorizer()
  const stop = await rbac.follow(reader)
  const decision = () => rbac.authorize(ask(alice, 'get pods')).decision
  assert.equal(decision(), 'none')
  reader.put(group, 'clusterrolebindings', binding('b', 'ClusterRole r', ['User alice']))
  assert.equal(decision(), 'allow')
  reader.put(group, 'clusterrolebindings', binding('b', 'ClusterRole r', ['User bob']))
  assert.equal(decision(), 'none')
  reader.put(
    group,
    'clusterrolebindings',
    binding('b', 'ClusterRole r', ['Group dev', 'Group dev']),
  )
  assert.equal(decision(), 'allow')
  reader.put(group, 'clusterroles', role('r', [rule('get', '', 'secrets')]))
  assert.equal(decision(), 'none')
  reader.put(group, 'clusterroles', role('r', [rule('get', '', 'pods')]))
  reader.remove(group, 'clusterroles', '', 'r')
  assert.equal(decision(), 'none')
  reader.put(group, 'clusterroles', role('r', [rule('get', '', 'pods')]))
  assert.equal(decision(), 'allow')
  reader.remove(group, 'clusterrolebindings', '', 'b')
  assert.equal(decision(), 'none')
  stop()
  reader.put(group, 'clusterrolebindings', binding('b', 'ClusterRole r', ['User alice']))
  assert.equal(decision(), 'none')
})

test('the rules of a user: cluster-wide first, each binding once', () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('rolebindings', binding('n', 'ClusterRole a', ['User alice', 'Group dev'], 'n'))
  rbac.changed('clusterroles', role('a', [rule('get', '', 'pods', 'x'), urls('get', '/x')]))
  rbac.changed('clusterroles', role('b', [rule('list', 'apps', 'deployments')]))
  rbac.changed('clusterrolebindings', binding('c', 'ClusterRole b', ['Group dev']))
  rbac.changed('clusterrolebindings', binding('d', 'ClusterRole gone', ['Group dev']))
  assert.deepEqual(rbac.rulesFor(alice, 'n'), {
    resourceRules: [
      { verbs: ['list'], apiGroups: ['apps'], resources: ['deployments'] },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['x'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    incomplete: false,
    errors: ['clusterrole.rbac.authorization.k8s.io "gone" not found'],
  })
})
