import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credentials } from '#access/authenticate.ts'
import { BasicAuthenticator } from './basic.ts'
import { parseCsv } from './csv.ts'
import { StaticTokenAuthenticator } from './static-token.ts'

const csv: [string, string[][]][] = [
  ['a,b,c', [['a', 'b', 'c']]],
  [
    'a,b\r\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['\n\na\n\nb\n', [['a'], ['b']]],
  ['a,"b,c",d', [['a', 'b,c', 'd']]],
  ['"a ""q"" b",', [['a "q" b', '']]],
  ['"line\nline",x\ny', [['line\nline', 'x'], ['y']]],
  [' a , b ', [[' a ', ' b ']]],
  [',', [['', '']]],
]
for (const [text, expected] of csv)
  test(`csv ${JSON.stringify(text)}`, () =>
    assert.deepEqual(
      parseCsv(text).map(({ fields }) => fields),
      expected,
    ))

test('records have their line numbers', () =>
  assert.deepEqual(
    parseCsv('a\n\n"x\ny"\nb').map(({ line }) => line),
    [1, 3, 5],
  ))

const tokens = [
  'admin-token,admin,admin-uid,"system:masters"',
  'alice-token,alice,alice-uid,"dev,ops"',
  'plain,bob,bob-uid',
  'none,carol,carol-uid,""',
  'with"quote,never,parsed',
].slice(0, 4)

test('tokens become users', () => {
  const method = new StaticTokenAuthenticator(tokens.join('\n'), 'tokens.csv')
  const groups = (token: string) => {
    const verdict = method.authenticateToken(token)
    return verdict && 'user' in verdict
      ? [verdict.user.name, verdict.user.uid, ...verdict.user.groups]
      : verdict
  }
  assert.deepEqual(groups('admin-token'), ['admin', 'admin-uid', 'system:masters'])
  assert.deepEqual(groups('alice-token'), ['alice', 'alice-uid', 'dev', 'ops'])
  assert.deepEqual(groups('plain'), ['bob', 'bob-uid'])
  assert.deepEqual(groups('none'), ['carol', 'carol-uid'])
  for (const token of ['', 'admin-toke', 'admin-token ', 'ADMIN-TOKEN', '__proto__', 'constructor'])
    assert.equal(groups(token), undefined, token)
})

test('the user of a token is always the same object', () => {
  const method = new StaticTokenAuthenticator('t,u,1', 'f')
  const [a, b] = [method.authenticateToken('t'), method.authenticateToken('t')]
  assert.ok(a && b && 'user' in a && 'user' in b)
  assert.equal(a.user, b.user)
})

const malformed: [string, RegExp][] = [
  [
    'a,b,c\nt,u',
    /token file 'f', line 2: must have at least 3 columns \(token, user name, user uid\), found 2/,
  ],
  ['a,b,c\n\n"t,u,v', /token file 'f', line 3: quoted field is not closed/],
  ['a,b"x,c', /token file 'f', line 1: bare " in non-quoted field/],
  ['"a"b,c,d', /token file 'f', line 1: extraneous or missing " in quoted field/],
  ['just words', /line 1: must have at least 3 columns/],
]
for (const [text, error] of malformed)
  test(`refused at start: ${JSON.stringify(text)}`, () =>
    assert.throws(() => new StaticTokenAuthenticator(text, 'f'), error))

test('empty and repeated tokens are reported; the last one is used, an empty one never', () => {
  const method = new StaticTokenAuthenticator(',nobody,0\nt,first,1\nt,last,2', 'f')
  assert.deepEqual(method.warnings, [
    "empty token in token file 'f', line 1",
    "duplicate token in token file 'f', line 3",
  ])
  assert.equal(method.authenticateToken(''), undefined)
  assert.match(JSON.stringify(method.authenticateToken('t')), /"last"/)
})

const basic = (authorization: string | string[]): Credentials => ({
  headers: { authorization },
  token: undefined,
  certificate: undefined,
})
const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('passwords', () => {
  const method = new BasicAuthenticator('s:cret,alice,1,"dev"\npw,bob,2', 'passwords.csv')
  const name = (header: string | string[]) => {
    const verdict = method.authenticate(basic(header))
    return verdict && 'user' in verdict ? verdict.user.name : verdict?.refused
  }
  const wrong = 'invalid username/password combination'
  assert.equal(name(encoded('alice:s:cret')), 'alice')
  assert.equal(name(`bAsIc ${encoded('bob:pw').slice(6)}`), 'bob')
  assert.equal(name(encoded('alice:pw')), wrong)
  assert.equal(name(encoded('nobody:pw')), wrong)
  assert.equal(name(encoded('__proto__:pw')), wrong)
  assert.equal(name(encoded('no colon')), undefined)
  assert.equal(name('Basic !!!'), undefined)
  assert.equal(name('Bearer x'), undefined)
  assert.equal(name([encoded('bob:pw'), encoded('alice:s:cret')]), 'bob')
  assert.throws(() => new BasicAuthenticator('a,b', 'p'), /password file 'p', line 1/)
})
