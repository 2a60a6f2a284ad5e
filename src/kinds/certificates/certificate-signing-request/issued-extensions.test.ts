/** Invalid extensions, with Go's errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExtension } from './issued-extensions.ts'

const value = (tag: number, ...contents: (Buffer | string)[]): Buffer => {
  const bytes = Buffer.concat(contents.map((one) => Buffer.from(one)))
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
}
const bytes = (...numbers: number[]) => Buffer.from(numbers)
const list = (...contents: (Buffer | string)[]) => value(0x30, ...contents)
const oid = value(0x06, bytes(0x2a, 0x03))
const constraint = (tag: number, contents: Buffer | string) =>
  list(value(0xa0, list(value(tag, contents))))

const rows: [id: string, bytes: Buffer, problem: string | undefined, critical?: boolean][] = [
  ['551d0e', value(0x04, 'a'), undefined],
  ['551d0e', value(0x05, 'a'), 'x509: invalid subject key identifier'],
  ['551d0e', value(0x04, 'a'), 'x509: subject key identifier incorrectly marked critical', true],
  ['551d0f', value(0x03, bytes(7, 0x80)), undefined],
  ['551d0f', value(0x03, bytes(9, 0x80)), 'x509: invalid key usage'],
  ['551d13', list(value(1, bytes(0xff)), value(2, bytes(3))), undefined],
  ['551d13', list(value(1, bytes(0xdf))), 'x509: invalid basic constraints'],
  ['551d13', list(value(2, bytes(0xff))), 'x509: invalid basic constraints'],
  ['551d1e', constraint(0x82, 'a.b'), undefined],
  ['551d1e', constraint(0x82, 'a..b'), 'x509: failed to parse dnsName constraint "a..b"'],
  [
    '551d1e',
    constraint(0x82, bytes(0x61, 0x80)),
    'x509: invalid constraint value: x509: "a\\x80" cannot be encoded as an IA5String',
  ],
  [
    '551d1e',
    constraint(0x86, '1.2.3.4'),
    'x509: failed to parse URI constraint "1.2.3.4": cannot be IP address',
  ],
  ['551d1e', constraint(0x87, bytes(1, 2, 3, 4, 255, 0, 0, 0)), undefined],
  [
    '551d1e',
    constraint(0x87, bytes(1, 2, 3, 4, 255, 0, 1, 0)),
    'x509: IP constraint contained invalid mask ff000100',
  ],
  ['551d1e', list(), 'x509: empty name constraints extension'],
  ['551d1f', list(list(value(0xa0, value(0xa0, value(0x86, 'u'))))), undefined],
  ['551d1f', value(0x31), 'x509: invalid CRL distribution points'],
  ['551d1f', list(value(0x31)), 'x509: invalid CRL distribution point'],
  ['551d20', list(list(oid)), undefined],
  ['551d20', list(list(oid), list(oid)), 'x509: invalid certificate policies'],
  ['551d21', list(list(oid)), 'x509: invalid policy mappings extension'],
  ['551d23', list(value(0x80, 'k')), undefined],
  ['551d23', value(0x31), 'x509: invalid authority key identifier'],
  ['551d24', list(value(0x80, bytes(0xff))), 'x509: invalid policy constraints extension'],
  ['551d25', list(oid, value(0x07, 'x')), 'x509: invalid extended key usages'],
  ['551d36', value(0x04, 'x'), 'x509: invalid inhibit any policy extension'],
  ['2b06010505070101', list(list(oid, value(0x86, 'u'))), undefined],
  ['2b06010505070101', list(list(value(0x07, 'x'))), 'x509: invalid authority info access'],
  [
    '551d11',
    list(value(0x86, 'https://a\x04')),
    'x509: cannot parse URI "https://a\\x04": parse "https://a\\x04": net/url: invalid control character in URL',
  ],
  [
    '551d11',
    list(value(0x86, 'https://a..b')),
    'x509: cannot parse URI "https://a..b": invalid domain',
  ],
  ['2a03', bytes(0), undefined],
]
for (const [id, contents, problem, critical = false] of rows) {
  test(`${id} ${contents.toString('hex')}: ${problem ?? 'fine'}`, () => {
    const read = () => readExtension(id, contents, critical)
    if (problem === undefined) assert.doesNotThrow(read)
    else assert.throws(read, { message: problem })
  })
}
