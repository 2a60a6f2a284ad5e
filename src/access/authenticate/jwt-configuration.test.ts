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

const read = (value: Loose | string, release = 37, egress = true) => {
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
  return readAuthenticationConfiguration(file, releaseOf(release), () => egress, ['https://own'])
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
    'a rule that does not return a boolean',
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
    'an unknown egress selector',
    one({ issuer: { ...issuer, egressSelectorType: 'etcd' } }),
    `${at}.issuer.egressSelectorType: Invalid value: "etcd": egress selector must be either controlplane or cluster`,
  ],
  [
    'an egress selector without egress',
    one({ issuer: { ...issuer, egressSelectorType: 'cluster' } }),
    'oidc: egress lookup required with egress selector type "cluster"',
  ],
  [
    'a misspelt field',
    whole({ anonymos: { enabled: false }, jwt: [jwt({ issuer: { ...issuer, uri: '' } })] }),
    'strict decoding error: unknown field "anonymos", unknown field "jwt[0].issuer.uri"',
  ],
  [
    'text for a switch',
    whole({ anonymous: { enabled: 'false' } }),
    'anonymous.enabled: expected a bool',
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

const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n'
const texts: [what: string, text: string, problem: string][] = [
  [
    'misspelt fields of YAML, sorted',
    `${header}jwt:\n- issuer: {uri: x, ul: y}\nanonymos: {}\n`,
    'strict decoding error: unknown field "anonymos", unknown field "jwt[0].issuer.ul", unknown field "jwt[0].issuer.uri"',
  ],
  [
    'a key of YAML twice',
    `${header}anonymous:\n  enabled: false\n  enabled: true\n`,
    'strict decoding error: yaml: unmarshal errors:\n  line 5: key "enabled" already set in map',
  ],
  [
    'a key of JSON twice',
    `{"anonymous":{"enabled":false,"enabled":true},${JSON.stringify(whole({ x: { y: 1 } })).slice(1)}`,
    'strict decoding error: duplicate field "anonymous.enabled", unknown field "x"',
  ],
]
for (const [what, text, problem] of texts)
  test(`${what}: refused`, () => {
    assert.throws(() => read(text), {
      message: `invalid authentication configuration ${file}: ${problem}`,
    })
  })

const withEgress = one({ issuer: { ...issuer, egressSelectorType: 'controlplane' } })
const egressRows: [release: number, egress: boolean, problem: RegExp][] = [
  [33, true, /strict decoding error: unknown field "jwt\[0\].issuer.egressSelectorType"/],
  [34, true, /oidc: egress lookup required with egress selector type "controlplane"/],
  [
    34,
    false,
    /egressSelectorType: Invalid value: "controlplane": egress selector is not supported/,
  ],
]
for (const [release, egress, problem] of egressRows)
  test(`an egress selector as 1.${release}, gate ${egress}`, () => {
    const value = { ...withEgress, apiVersion: 'apiserver.config.k8s.io/v1beta1' }
    assert.throws(() => read(value, release, egress), problem)
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
  assert.throws(() => read(value, 30), /strict decoding error: unknown field "anonymous"$/)
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
    'a name that is not a string',
    mappings({ username: { expression: '1' } }),
    'oidc: error evaluating username claim expression: username claim expression must return a string',
  ],
  [
    'groups that are not strings',
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
