import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { contextFor, linesOf } from './behaviour.suite.ts'
import {
  checkLegacyCidr,
  checkLegacyIp,
  legacyCidrWarnings,
  legacyIpWarnings,
} from './legacy-addresses.ts'

const path = FieldPath.of('a')
const accepted = 'was accepted, but will be invalid in a future Kubernetes release'
const loops = ', which may cause controller apply-loops'

/** Strict checks; warnings of 1.33; warnings of 1.32. Lenient checks accept all but the first. */
const addresses: [text: string, strict: string, now: string, before: string][] = [
  ['x', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)', '', ''],
  ['10.0.0.1', '', '', ''],
  [
    '010.0.0.1',
    'must not have leading 0s',
    'a: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
    `a: IP address ${accepted}: ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero`,
  ],
  [
    '::ffff:1.2.3.4',
    'must not be an IPv4-mapped IPv6 address',
    'a: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
    '',
  ],
  [
    'FD00::1',
    '',
    'a: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    `a: IPv6 address "FD00::1" is not in RFC 5952 canonical format ("fd00::1")${loops}`,
  ],
]
for (const [text, strict, now, before] of addresses) {
  test(`the address ${text}`, () => {
    const problems = linesOf(
      checkLegacyIp(text, path, contextFor({}, ['StrictIPCIDRValidation'])),
    ).join()
    assert.equal(problems, strict && `a: Invalid value: "${text}": ${strict}`)
    assert.equal(checkLegacyIp(text, path, contextFor()).length, text === 'x' ? 1 : 0)
    assert.deepEqual(checkLegacyIp(text, path, contextFor(), [text]), [])
    assert.equal(legacyIpWarnings(text, path, 33).join(), now)
    assert.equal(legacyIpWarnings(text, path, 32).join(), before)
  })
}

const blocks: [text: string, strict: string, now: string, before: string][] = [
  ['x', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)', '', ''],
  ['10.0.0.0/8', '', '', ''],
  [
    '10.0.0.0/08',
    'must not have leading 0s in IP or prefix length',
    'a: non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"',
    `a: IP prefix ${accepted}: netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"`,
  ],
  [
    '10.0.0.1/8',
    'must not have bits set beyond the prefix length',
    'a: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    '',
  ],
  [
    'FD00::/64',
    '',
    'a: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
    `a: IPv6 prefix "FD00::/64" is not in RFC 5952 canonical format ("fd00::/64")${loops}`,
  ],
]
for (const [text, strict, now, before] of blocks) {
  test(`the block ${text}`, () => {
    const problems = linesOf(
      checkLegacyCidr(text, path, contextFor({}, ['StrictIPCIDRValidation'])),
    ).join()
    assert.equal(problems, strict && `a: Invalid value: "${text}": ${strict}`)
    assert.equal(legacyCidrWarnings(text, path, 33).join(), now)
    assert.equal(legacyCidrWarnings(text, path, 32).join(), before)
  })
}
