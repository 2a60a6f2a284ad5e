import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cidrContains, formatIp, isIpv4, isIpv6, parseCidr, parseIp } from './ip-address.ts'

const good: [string, string][] = [
  ['10.9.8.7', '10.9.8.7'],
  ['::', '::'],
  ['2001:db8::ffff', '2001:db8::ffff'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
]
for (const [text, printed] of good) {
  test(`${text} is an address`, () => {
    const ip = parseIp(text)
    assert.ok(ip)
    assert.equal(formatIp(ip), printed)
  })
}

const bad = [
  '',
  '1.2.3',
  '1.2.3.256',
  '01.2.3.4',
  '1.2.3.4.5',
  ':::',
  '1::2::3',
  ':1',
  '1:',
  'fe80::1%eth0',
]
bad.push('1:2:3:4:5:6:7:8:9', '12345::', '1.2.3.4::', '::1.2.3', 'localhost')
for (const text of bad) {
  test(`${JSON.stringify(text)} is no address`, () => assert.equal(parseIp(text), undefined))
}

test('a mapped address is an IPv4 one', () => {
  assert.ok(isIpv4('::ffff:1.2.3.4'))
  assert.ok(!isIpv6('::ffff:1.2.3.4'))
  assert.ok(isIpv6('::1'))
})

test('blocks', () => {
  const block = parseCidr('10.1.2.3/8')
  assert.ok(block)
  assert.deepEqual([formatIp(block.network), block.ones], ['10.0.0.0', 8])
  assert.ok(cidrContains(block, parseIp('10.255.0.1') as Uint8Array))
  assert.ok(!cidrContains(block, parseIp('11.0.0.1') as Uint8Array))
  assert.ok(!cidrContains(block, parseIp('::1') as Uint8Array))
  assert.equal(formatIp((parseCidr('fd00:10::5/64') ?? assert.fail()).network), 'fd00:10::')
  for (const text of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
  ]) {
    assert.equal(parseCidr(text), undefined, text)
  }
})
