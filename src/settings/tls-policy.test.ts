/** OpenSSL's options for the TLS flags. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCiphers } from 'node:tls'
import { suiteNames, tlsPolicy, tlsProblem } from './tls-policy.ts'

const ecdsa128 = 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'
const rsa128 = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'
const rsa256 = 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'
const tls13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

const lists: [names: string[], ciphers: string | undefined, warnings: string[]][] = [
  [[], undefined, []],
  [['TLS_AES_256_GCM_SHA384'], tls13, []],
  [
    [rsa256, rsa128, ecdsa128],
    `${tls13}:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384`,
    [],
  ],
  [
    ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'],
    `${tls13}:ECDHE-RSA-CHACHA20-POLY1305`,
    [],
  ],
  [
    ['TLS_RSA_WITH_3DES_EDE_CBC_SHA', rsa128],
    `${tls13}:ECDHE-RSA-AES128-GCM-SHA256`,
    ['--tls-cipher-suites: OpenSSL has no TLS_RSA_WITH_3DES_EDE_CBC_SHA: never used'],
  ],
  [
    ['TLS_RSA_WITH_AES_128_CBC_SHA256'],
    `${tls13}:AES128-SHA256`,
    ["Use of insecure cipher 'TLS_RSA_WITH_AES_128_CBC_SHA256' detected."],
  ],
]

for (const [names, ciphers, warnings] of lists)
  test(`suites ${names.join(' ') || 'unset'}`, () => {
    const policy = tlsPolicy({ tlsCipherSuites: names, tlsMinVersion: 'VersionTLS12' })
    assert.deepEqual(policy, { minVersion: 'TLSv1.2', ciphers, warnings })
  })

test('OpenSSL knows all cipher suites in the table', () => {
  const names = [...suiteNames]
  assert.equal(names.length, 27)
  const { ciphers } = tlsPolicy({ tlsCipherSuites: names, tlsMinVersion: 'VersionTLS13' })
  const known = getCiphers()
  for (const name of (ciphers as string).split(':'))
    assert.ok(known.includes(name.toLowerCase()), name)
})

const problems: [names: string[], version: string, has: boolean][] = [
  [[], 'VersionTLS12', false],
  [[rsa256], 'VersionTLS12', true],
  [[rsa256], 'VersionTLS10', true],
  [[rsa256, rsa128], 'VersionTLS12', false],
  [[ecdsa128], 'VersionTLS12', false],
  [['TLS_AES_128_GCM_SHA256'], 'VersionTLS12', true],
  [['TLS_AES_128_GCM_SHA256'], 'VersionTLS13', false],
  [['ECDHE-RSA-AES128-GCM-SHA256'], 'VersionTLS13', true],
]

for (const [names, version, has] of problems)
  test(`${names.join(' ') || 'no suites'} with ${version} ${has ? 'cannot be' : 'can be'}`, () => {
    assert.equal(tlsProblem(names, version) !== undefined, has)
  })
