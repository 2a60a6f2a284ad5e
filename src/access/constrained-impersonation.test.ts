/** Which permissions each mode needs, which user results, and the error if no mode allows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from './authorize.ts'
import { ConstrainedImpersonation } from './constrained-impersonation.ts'
import type { Headers } from './impersonate.ts'
import type { User } from './user.ts'

const joe: User = { name: 'joe', uid: '', groups: ['dev'], extra: {} }
const agent: User = {
  name: 'system:serviceaccount:infra:agent',
  uid: '',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], other: ['x'] },
}

const requestOf = (user: User): Attributes => ({
  user,
  verb: 'list',
  isResource: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns',
  name: '',
  path: '/api/v1/namespaces/ns/pods',
})

/** `verb resource.group/subresource namespace name`, without empty parts at the end. */
const shown = ({ verb, resource, group, subresource, namespace, name }: Attributes): string =>
  `${verb} ${resource}${group && `.${group}`}${subresource && `/${subresource}`} ${namespace} ${name}`.trimEnd()

/**
 * The result with an authorizer that allows matching requests, and all requests that it received.
 */
async function outcome(headers: Headers, user: User, allowed: RegExp) {
  const checked: string[] = []
  const authorizer = {
    authorize(attributes: Attributes) {
      checked.push(shown(attributes))
      const decision = allowed.test(shown(attributes)) ? 'allow' : 'none'
      return { decision, reason: '' } as const
    },
  }
  const result = await new ConstrainedImpersonation(authorizer)
    .of(headers, requestOf(user))
    .catch(({ code, message }) => ({ code, message }))
  return { checked, result }
}

const named = (name: string, more: Headers = {}): Headers => ({ 'impersonate-user': name, ...more })
const authenticationGroup = 'authentication.k8s.io'

type Row = [
  what: string,
  user: User,
  headers: Headers,
  allowed: RegExp,
  constraint: string,
  checked: string[],
  groups: string[],
]
const allowedRows: Row[] = [
  [
    'a user',
    joe,
    named('alice'),
    /user-info/,
    'impersonate:user-info',
    [
      'impersonate-on:user-info:list pods ns',
      `impersonate:user-info users.${authenticationGroup}  alice`,
    ],
    ['system:authenticated'],
  ],
  [
    'a user with the legacy verb alone',
    joe,
    named('alice'),
    /^impersonate /,
    '',
    ['impersonate-on:user-info:list pods ns', 'impersonate users  alice'],
    ['system:authenticated'],
  ],
  [
    'groups, a uid and extra values',
    joe,
    named('alice', {
      'impersonate-uid': 'u',
      'impersonate-group': 'ops',
      'impersonate-extra-acme.com%2Fteam': 'red',
    }),
    /user-info/,
    'impersonate:user-info',
    [
      'impersonate-on:user-info:list pods ns',
      `impersonate:user-info users.${authenticationGroup}  alice`,
      `impersonate:user-info uids.${authenticationGroup}  u`,
      `impersonate:user-info groups.${authenticationGroup}  ops`,
      `impersonate:user-info userextras.${authenticationGroup}/acme.com/team  red`,
    ],
    ['ops', 'system:authenticated'],
  ],
  [
    'many groups by a permission for all',
    joe,
    named('alice', { 'impersonate-group': ['a', 'b', 'c', 'd'] }),
    /user-info:list|users|groups\S* {2}\*$/,
    'impersonate:user-info',
    [
      'impersonate-on:user-info:list pods ns',
      `impersonate:user-info users.${authenticationGroup}  alice`,
      `impersonate:user-info groups.${authenticationGroup}  *`,
    ],
    ['a', 'b', 'c', 'd', 'system:authenticated'],
  ],
  [
    'a service account',
    joe,
    named('system:serviceaccount:a:bot'),
    /serviceaccount/,
    'impersonate:serviceaccount',
    [
      'impersonate-on:serviceaccount:list pods ns',
      `impersonate:serviceaccount serviceaccounts.${authenticationGroup} a bot`,
    ],
    ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
  ],
  [
    'any node',
    joe,
    named('system:node:n1'),
    /arbitrary-node/,
    'impersonate:arbitrary-node',
    [
      'impersonate-on:arbitrary-node:list pods ns',
      `impersonate:arbitrary-node nodes.${authenticationGroup}  n1`,
    ],
    ['system:nodes', 'system:authenticated'],
  ],
  [
    'the node of its pod',
    agent,
    named('system:node:n1'),
    /associated-node/,
    'impersonate:associated-node',
    [
      'impersonate-on:associated-node:list pods ns',
      `impersonate:associated-node nodes.${authenticationGroup}  *`,
    ],
    ['system:nodes', 'system:authenticated'],
  ],
  [
    'another node than that of its pod',
    agent,
    named('system:node:n2'),
    /-node/,
    'impersonate:arbitrary-node',
    [
      'impersonate-on:arbitrary-node:list pods ns',
      `impersonate:arbitrary-node nodes.${authenticationGroup}  n2`,
    ],
    ['system:nodes', 'system:authenticated'],
  ],
]
for (const [what, user, headers, allowed, constraint, checked, groups] of allowedRows) {
  test(`${user.name} impersonates ${what}`, async () => {
    const found = await outcome(headers, user, allowed)
    assert.deepEqual(found.checked, checked)
    assert.ok(found.result !== undefined && 'user' in found.result, JSON.stringify(found.result))
    assert.equal(found.result.constraint, constraint)
    assert.deepEqual(found.result.user.groups, groups)
  })
}

const nothing = /^$/
const refusedRows: [
  what: string,
  user: User,
  headers: Headers,
  allowed: RegExp,
  message: string,
][] = [
  [
    'without any permission',
    joe,
    named('alice'),
    nothing,
    'pods is forbidden: User "joe" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "ns"',
  ],
  [
    'for a request that no mode allows',
    joe,
    named('alice'),
    /impersonate:user-info/,
    'pods is forbidden: User "joe" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "ns"',
  ],
  [
    'for a user that no mode allows',
    joe,
    named('alice'),
    /impersonate-on/,
    'users.authentication.k8s.io "alice" is forbidden: User "joe" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
  ],
  [
    'with groups of a service account',
    joe,
    named('system:serviceaccount:a:bot', { 'impersonate-group': 'x' }),
    nothing,
    'serviceaccounts "bot" is forbidden: User "joe" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a"',
  ],
  [
    'with the privileged group',
    joe,
    named('alice', { 'impersonate-group': 'system:masters' }),
    /user-info/,
    'groups.authentication.k8s.io "system:masters" is forbidden: User "joe" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
  ],
  [
    'with a key without a domain',
    joe,
    named('alice', { 'impersonate-extra-team': 'red' }),
    /user-info/,
    'userextras.authentication.k8s.io is forbidden: User "joe" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    'the node of its pod',
    agent,
    named('system:node:n1'),
    /associated-node:list/,
    'nodes.authentication.k8s.io "*" is forbidden: User "system:serviceaccount:infra:agent" cannot impersonate:associated-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope',
  ],
]
for (const [what, user, headers, allowed, message] of refusedRows) {
  test(`refused: ${what}`, async () => {
    const { result } = await outcome(headers, user, allowed)
    assert.deepEqual(result, { code: 403, message })
  })
}

test('an associated node is authorized without the values of the caller', async () => {
  const seen: unknown[] = []
  const authorizer = {
    authorize({ user }: Attributes) {
      seen.push(user.extra)
      return { decision: 'allow', reason: '' } as const
    },
  }
  await new ConstrainedImpersonation(authorizer).of(named('system:node:n1'), requestOf(agent))
  const keys = ['authentication.kubernetes.io/node-name', 'other']
  const extra = { 'authentication.kubernetes.io/associated-node-keys': keys }
  assert.deepEqual(seen, [extra, extra])
})

const withoutName: [headers: Headers, shown: string][] = [
  [
    { 'impersonate-group': ['a', 'b'] },
    'UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)',
  ],
  [{ 'impersonate-uid': 'u' }, 'UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)'],
  [
    { 'impersonate-extra-k': ['v', 'w'] },
    'UID:"", Groups:[]string(nil), Extra:map[string][]string{"k":[]string{"v", "w"}}',
  ],
]
for (const [headers, parts] of withoutName) {
  test(`refused without a name: ${parts}`, async () => {
    const { result } = await outcome(headers, joe, /./)
    const message = `requested &user.DefaultInfo{Name:"", ${parts}} without impersonating a user name`
    assert.deepEqual(result, { code: 400, message })
  })
}

test('without headers no user is impersonated', async () => {
  assert.deepEqual((await outcome({}, joe, /./)).result, undefined)
})

test('the mode that allowed last is checked first', async () => {
  const seen: string[] = []
  const authorizer = {
    authorize({ verb }: Attributes) {
      seen.push(verb)
      return { decision: verb === 'impersonate' ? 'allow' : 'none', reason: '' } as const
    },
  }
  const impersonation = new ConstrainedImpersonation(authorizer)
  await impersonation.of(named('alice'), requestOf(joe))
  await impersonation.of(named('system:node:n1'), requestOf(joe))
  assert.deepEqual(seen, ['impersonate-on:user-info:list', 'impersonate', 'impersonate'])
})

test('attempts and checks are measured by mode', async () => {
  const authorizer = {
    authorize({ verb, user }: Attributes) {
      const allows = verb === 'impersonate' && user.name === 'joe'
      return { decision: allows ? 'allow' : 'none', reason: '' } as const
    },
  }
  let now = 0
  const measured: unknown[] = []
  const impersonation = new ConstrainedImpersonation(authorizer, {
    monotonicMs: () => now++,
    attempted: (...what) => void measured.push(['attempt', ...what]),
    authorized: (...what) => void measured.push(what),
  })
  await impersonation.of({}, requestOf(joe))
  await impersonation.of(named('alice'), requestOf(joe))
  await assert.rejects(impersonation.of(named('alice'), requestOf({ ...joe, name: 'eve' })))
  assert.deepEqual(measured, [
    ['user-info', false, 1],
    ['legacy', true, 1],
    ['attempt', 'legacy', true, 5],
    ['user-info', false, 1],
    ['legacy', false, 1],
    ['attempt', '', false, 5],
  ])
})
