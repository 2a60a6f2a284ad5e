import assert from 'node:assert/strict'
import { test } from 'node:test'
import { impersonation } from './impersonate.ts'
import type { User } from './user.ts'

const admin: User = { name: 'admin', uid: '', groups: ['ops'], extra: {} }
type Headers = Record<string, string | string[]>

/** `resource.group/subresource namespace name` of each check. */
function checksOf(headers: Headers): string[] {
  return (impersonation(headers, admin, 22)?.checks ?? []).map((one) => {
    assert.equal(one.user, admin)
    assert.equal(one.verb, 'impersonate')
    return `${one.resource}.${one.group}/${one.subresource} ${one.namespace} ${one.name}`
  })
}

const cases: [string, Headers, string[], Partial<User>][] = [
  [
    'a user',
    { 'impersonate-user': 'alice' },
    ['users./  alice'],
    { name: 'alice', uid: '', groups: ['system:authenticated'], extra: {} },
  ],
  [
    'groups as given, and everyone known is in one more',
    { 'impersonate-user': 'alice', 'impersonate-group': ['a, b', 'c'] },
    ['users./  alice', 'groups./  a, b', 'groups./  c'],
    { groups: ['a, b', 'c', 'system:authenticated'] },
  ],
  [
    'the group of the unknown is enough',
    { 'impersonate-user': 'alice', 'impersonate-group': 'system:unauthenticated' },
    ['users./  alice', 'groups./  system:unauthenticated'],
    { groups: ['system:unauthenticated'] },
  ],
  [
    'nobody',
    { 'impersonate-user': 'system:anonymous' },
    ['users./  system:anonymous'],
    { groups: ['system:unauthenticated'] },
  ],
  [
    'names in any language, of whose bytes Node makes a character each',
    {
      'impersonate-user': Buffer.from('jürgen').toString('latin1'),
      'impersonate-group': [Buffer.from('開発').toString('latin1')],
      'impersonate-extra-ort': Buffer.from('Köln').toString('latin1'),
    },
    ['users./  jürgen', 'groups./  開発', 'userextras.authentication.k8s.io/ort  Köln'],
    { name: 'jürgen', groups: ['開発', 'system:authenticated'], extra: { ort: ['Köln'] } },
  ],
  [
    'a service account has its groups',
    { 'impersonate-user': 'system:serviceaccount:n:bot' },
    ['serviceaccounts./ n bot'],
    { groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'] },
  ],
  [
    'unless groups are given',
    { 'impersonate-user': 'system:serviceaccount:n:bot', 'impersonate-group': 'x' },
    ['serviceaccounts./ n bot', 'groups./  x'],
    { groups: ['x', 'system:authenticated'] },
  ],
  [
    'a name that only looks like an account is a user',
    { 'impersonate-user': 'system:serviceaccount:N:bot' },
    ['users./  system:serviceaccount:N:bot'],
    { groups: ['system:authenticated'] },
  ],
  [
    'extra and uid',
    {
      'impersonate-user': 'alice',
      'impersonate-extra-acme.com%2fproject': ['one', 'two'],
      'impersonate-extra-%zz': 'x',
      'impersonate-extra-__proto__': 'p',
      'impersonate-uid': 'u-1',
    },
    [
      'users./  alice',
      'userextras.authentication.k8s.io/acme.com/project  one',
      'userextras.authentication.k8s.io/acme.com/project  two',
      'userextras.authentication.k8s.io/%zz  x',
      'userextras.authentication.k8s.io/__proto__  p',
      'uids.authentication.k8s.io/  u-1',
    ],
    { uid: 'u-1' },
  ],
]
for (const [name, headers, checks, expected] of cases)
  test(name, () => {
    assert.deepEqual(checksOf(headers), checks)
    const user = impersonation(headers, admin, 22)?.user as User
    for (const [field, value] of Object.entries(expected))
      assert.deepEqual(user[field as keyof User], value)
  })

test('extra keys may be any text', () => {
  const headers = { 'impersonate-user': 'a', 'impersonate-extra-__proto__': 'p' }
  const extra = impersonation(headers, admin, 22)?.user.extra ?? {}
  assert.deepEqual(Object.entries(extra), [['__proto__', ['p']]])
})

const olderGroups: [user: string, groups: string[], release: number, expected: string[]][] = [
  ['alice', [], 16, ['system:authenticated']],
  ['alice', ['a'], 16, ['a']],
  ['alice', ['a'], 17, ['a', 'system:authenticated']],
  ['system:anonymous', [], 16, []],
  ['system:anonymous', [], 17, ['system:unauthenticated']],
]
for (const [user, groups, release, expected] of olderGroups) {
  test(`in 1.${release} ${user} of ${groups} is of ${expected}`, () => {
    const headers = { 'impersonate-user': user, 'impersonate-group': groups }
    assert.deepEqual(impersonation(headers, admin, release)?.user.groups, expected)
  })
}

test('without the headers no user is impersonated', () => {
  assert.equal(impersonation({ 'x-remote-user': 'alice' }, admin, 22), undefined)
  assert.equal(impersonation({ 'impersonate-user': '' }, admin, 22), undefined)
})

const withoutUser: [Headers, string][] = [
  [{ 'impersonate-group': ['a', 'b'] }, '[{Group  a    } {Group  b    }]'],
  [{ 'impersonate-extra-k': 'v' }, '[{UserExtra  v  authentication.k8s.io/v1  k}]'],
  [{ 'impersonate-uid': 'u' }, '[{UID  u  authentication.k8s.io/v1  }]'],
]
for (const [headers, shown] of withoutUser)
  test(`refused: ${shown}`, () =>
    assert.throws(() => impersonation(headers, admin, 22), {
      code: 400,
      message: `requested ${shown} without impersonating a user`,
    }))

test('before 1.22 a uid cannot be impersonated', () => {
  const headers = { 'impersonate-user': 'a', 'impersonate-uid': 'u' }
  const wanted = impersonation(headers, admin, 21)
  assert.equal(wanted?.checks.length, 1)
  assert.equal(wanted?.user.uid, '')
})
