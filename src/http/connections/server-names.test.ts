/** Which certificate each client gets; each row was recorded from kube-apiserver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selfSigned } from './self-signed.fixture.ts'
import { certificateChooser, namedAddresses } from './server-names.ts'

const ordinary = selfSigned('default.example', ['default.example']).cert

const named = (names: string[], commonName: string, dnsNames: string[] = [], ip?: number[]) => ({
  ...selfSigned(commonName, dnsNames, ip === undefined ? [] : [Uint8Array.from(ip)]),
  names,
  called: commonName,
})

const inCertificates = [
  named([], 'a.example', ['a.example', '*.wild.example']),
  named([], 'b.example', ['b.example', 'a.example', 'default.example']),
  named([], 'cn.example'),
  named([], 'cn.beside.example', ['san.beside.example']),
  named([], 'Not a Name', ['Upper.Example']),
  named([], '127.0.0.3'),
  named([], '*.cn.example'),
  named([], 'of-address', [], [127, 0, 0, 2]),
]

const given = [
  named(['sp.example', '*', 'UP.example'], 'first', ['a.example']),
  named(['a.example', '127.0.0.2'], 'second', ['b.example']),
  named(['a.example'], 'third.example', ['x.third.example', '*.sub.example']),
  named([], 'sp.example', ['last.example']),
]

const rows: [from: typeof given, name: string, shown: string | undefined][] = [
  [inCertificates, 'a.example', 'a.example'],
  [inCertificates, 'A.EXAMPLE', 'a.example'],
  [inCertificates, 'b.example', 'b.example'],
  [inCertificates, 'x.wild.example', 'a.example'],
  [inCertificates, 'y.x.wild.example', undefined],
  [inCertificates, 'wild.example', undefined],
  [inCertificates, 'default.example', 'b.example'],
  [inCertificates, 'cn.example', 'cn.example'],
  [inCertificates, 'cn.beside.example', 'cn.beside.example'],
  [inCertificates, 'san.beside.example', 'cn.beside.example'],
  [inCertificates, 'upper.example', 'Not a Name'],
  [inCertificates, '127.0.0.3', undefined],
  [inCertificates, 'q.cn.example', '*.cn.example'],
  [inCertificates, '127.0.0.2', 'of-address'],
  [inCertificates, 'of-address', 'of-address'],
  [inCertificates, 'nobody.example', undefined],
  [given, 'a.example', 'second'],
  [given, 'sp.example', 'first'],
  [given, 'single', 'first'],
  [given, 'up.example', undefined],
  [given, 'third.example', undefined],
  [given, 'x.third.example', 'third.example'],
  [given, 'y.sub.example', 'third.example'],
  [given, 'b.example', 'second'],
  [given, '127.0.0.2', 'second'],
  [given, 'last.example', 'sp.example'],
]

for (const [from, name, shown] of rows)
  test(`${name} of ${from === given ? 'names that were given' : 'names in certificates'}`, () => {
    const chosen = certificateChooser(ordinary, from)(name)
    assert.equal(from.find((one) => one === chosen)?.called, shown)
  })

test('configured addresses are distinguished from names', () => {
  assert.deepEqual(namedAddresses(given), ['127.0.0.2'])
  assert.deepEqual(namedAddresses(inCertificates), [])
})
