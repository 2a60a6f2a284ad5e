/**
 * --authentication-config: the errors for a file, and the user that the claims of a token describe.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { userFrom } from './claims-user.ts'
import { readAuthenticationConfiguration } from './jwt-configuration.ts'

const folder = mkdtempSync(join(tmpdir(), 'authentication-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'authentication.yaml')

const read = (value: Loose, release = 37) => {
  writeFileSync(file, JSON.stringify(value))
  return readAuthenticationConfiguration(file, releaseOf(release), ['https://own'])
}
const whole = (more: Loose, version = 'v1') => ({
  apiVersion: `apiserver.config.k8s.io/${version}`,
  kind: 'AuthenticationConfiguration',
  ...more,
})
const issuer = { url: 'https://issuer', audiences: ['me'] }
const username = { claim: 'sub', prefix: '' }
const jwt = (more: Loose = {}) => ({ issuer, claimMappings: { username }, ...more })
const one = (more: Loose = {}) => whole({ jwt: [jwt(more)] })
const at = 'jwt[0]'

const problems: [what: string, value: Loose, problem: string][] = [
  [
    'another kind',
    { kind: 'Nope', apiVersion: 'v1' },
    'no kind "Nope" is registered for version "v1"',
  ],
  ['no issuer', one({ issuer: { audiences: ['me'] } }), `${at}.issuer.url: Required value`],
  [
    'an issuer by HTTP',
    one({ issuer: { ...issuer, url: 'http://issuer' } }),
    `${at}.issuer.url: Invalid value: "http://issuer": URL scheme must be https`,
  ],
  [
    'the issuer of service accounts',
    one({ issuer: { ...issuer, url: 'https://own' } }),
    `${at}.issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://own]`,
  ],
  [
    'discovery at the issuer',
    one({ issuer: { ...issuer, discoveryURL: 'https://issuer/' } }),
    `${at}.issuer.discoveryURL: Invalid value: "https://issuer/": discoveryURL must be different from URL`,
  ],
  [
    'no audience',
    one({ issuer: { url: issuer.url } }),
    `${at}.issuer.audiences: Required value: at least one ${at}.issuer.audiences is required`,
  ],
  [
    'two audiences without a policy',
    one({ issuer: { ...issuer, audiences: ['a', 'b'] } }),
    `${at}.issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences`,
  ],
  [
    'no user name',
    one({ claimMappings: {} }),
    `${at}.claimMappings.username: Required value: claim or expression is required`,
  ],
  [
    'a claim without a prefix',
    one({ claimMappings: { username: { claim: 'sub' } } }),
    `${at}.claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing`,
  ],
  [
    'a claim and an expression',
    one({ claimMappings: { username: { claim: 'sub', expression: 'claims.sub' } } }),
    `${at}.claimMappings.username: Invalid value: "": claim and expression can't both be set`,
  ],
  [
    'an email that need not be verified',
    one({ claimMappings: { username: { expression: 'claims.email' } } }),
    'claims.email_verified must be used in claimMappings.username.expression or',
  ],
  [
    'an expression of an unknown variable',
    one({ claimMappings: { username: { expression: 'user.name' } } }),
    `${at}.claimMappings.username.expression: Invalid value: "user.name": compilation failed: ERROR: <input>:1:1: undeclared reference to 'user'`,
  ],
  [
    'a rule that is no condition',
    one({ userValidationRules: [{ expression: 'user.username' }] }),
    `${at}.userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool`,
  ],
  [
    'a rule twice',
    one({ userValidationRules: [{ expression: 'true' }, { expression: 'true' }] }),
    `${at}.userValidationRules[1].expression: Duplicate value: "true"`,
  ],
  [
    'a reserved key',
    one({ claimMappings: { username, extra: [{ key: 'x.k8s.io/y', valueExpression: '"v"' }] } }),
    `${at}.claimMappings.extra[0].key: Invalid value: "x.k8s.io/y": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use`,
  ],
  [
    'an issuer twice',
    whole({ jwt: [jwt(), jwt()] }),
    'jwt[1].issuer.url: Duplicate value: "https://issuer"',
  ],
  [
    'conditions for anonymous requests that are not allowed',
    whole({ anonymous: { enabled: false, conditions: [{ path: '/livez' }] } }),
    'enabled should be set to true when conditions are defined',
  ],
]
for (const [what, value, problem] of problems)
  test(`${what} is refused`, () => {
    assert.throws(
      () => read(value),
      (error: Error) => {
        assert.ok(error.message.includes(problem), error.message)
        return true
      },
    )
  })

for (const [version, release, isKnown] of [
  ['v1alpha1', 29, true],
  ['v1beta1', 29, false],
  ['v1beta1', 30, true],
  ['v1', 33, false],
  ['v1', 34, true],
] as const)
  test(`${version} as 1.${release} is ${isKnown ? 'read' : 'refused'}`, () => {
    const reading = () => read(whole({ jwt: [jwt()] }, version), release)
    if (isKnown) assert.equal(reading().issuers.length, 1)
    else assert.throws(reading, /no kind "AuthenticationConfiguration" is registered for version/)
  })

test('a configuration without issuers is rejected before 1.30', () => {
  assert.throws(() => read(whole({}, 'v1alpha1'), 29), /jwt: Required value/)
  assert.deepEqual(read(whole({}, 'v1alpha1'), 30).issuers, [])
})

test('anonymous requests are limited to paths since 1.31', () => {
  const value = whole(
    { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } },
    'v1alpha1',
  )
  assert.equal(read(value, 30).anonymous, undefined)
  const { anonymous } = read(value, 31)
  assert.deepEqual(anonymous, { enabled: true, paths: new Set(['/livez']) })
  assert.deepEqual(read(whole({ anonymous: { enabled: true } })).anonymous, { enabled: true })
})

const claims = { sub: 'bob', groups: ['a', ''], org: 'x', roles: { dev: ['r1'] }, jti: 'j' }
const mappings = (more: Loose) => ({ claimMappings: { username, ...more } })
const bob = { name: 'bob', uid: '', groups: [], extra: {} }
const users: [what: string, more: Loose, expected: Loose | string][] = [
  ['a claim', {}, bob],
  [
    'an expression',
    mappings({ username: { expression: 'claims.org + ":" + claims.sub' } }),
    { ...bob, name: 'x:bob' },
  ],
  [
    'groups, uid and more by expressions',
    mappings({
      groups: { expression: 'claims.roles.dev + claims.groups' },
      uid: { expression: '"u-" + claims.sub' },
      extra: [
        { key: 'example.org/org', valueExpression: 'claims.org' },
        { key: 'example.org/none', valueExpression: '""' },
      ],
    }),
    { ...bob, uid: 'u-bob', groups: ['r1', 'a'], extra: { 'example.org/org': ['x'] } },
  ],
  [
    'a name that is empty',
    mappings({ username: { expression: '""' } }),
    'oidc: empty username via CEL expression is not allowed',
  ],
  [
    'a name that is no text',
    mappings({ username: { expression: '1' } }),
    'oidc: error evaluating username claim expression: username claim expression must return a string',
  ],
  [
    'groups that are no texts',
    mappings({ groups: { expression: '[1]' } }),
    'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
  ],
  [
    'an expression that fails',
    mappings({ username: { expression: 'claims.nope' } }),
    "oidc: error evaluating username claim expression: expression 'claims.nope' resulted in error: no such key: nope",
  ],
  [
    'a required claim',
    { claimValidationRules: [{ claim: 'org', requiredValue: 'y' }] },
    'oidc: required claim org value does not match',
  ],
  [
    'a rule of claims',
    { claimValidationRules: [{ expression: 'claims.org == "y"', message: 'not y' }] },
    'oidc: error evaluating claim validation expression: validation expression \'claims.org == "y"\' failed: not y',
  ],
  [
    'a rule of users',
    { userValidationRules: [{ expression: 'user.username != "bob"', message: 'not bob' }] },
    'oidc: error evaluating user info validation rule: validation expression \'user.username != "bob"\' failed: not bob',
  ],
  [
    'rules that are met',
    {
      claimValidationRules: [{ expression: 'has(claims.org)' }],
      userValidationRules: [{ expression: 'user.groups.all(g, !g.startsWith("system:"))' }],
    },
    bob,
  ],
]
for (const [what, more, expected] of users)
  test(`the user of ${what}`, () => {
    const [rules] = read(one(more)).issuers
    assert.ok(rules)
    const make = () => userFrom(claims, { ...rules, showsTokenId: false })
    if (typeof expected === 'string') assert.throws(make, { message: expected })
    else assert.deepEqual(make(), expected)
  })

test('the ID of a token is part of the user in releases that show it', () => {
  const [rules] = read(one()).issuers
  assert.ok(rules)
  const { extra } = userFrom(claims, { ...rules, showsTokenId: true })
  assert.deepEqual(extra, { 'authentication.kubernetes.io/credential-id': ['JTI=j'] })
})
