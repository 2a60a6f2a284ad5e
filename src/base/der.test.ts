/** DER: known bytes for known values, and hostile bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as der from './der.ts'

const cases: [name: string, bytes: Buffer, hex: string][] = [
  ['0', der.integer(0), '020100'],
  ['5', der.integer(5), '020105'],
  ['127', der.integer(127), '02017f'],
  ['128 needs a leading zero', der.integer(128), '02020080'],
  ['256', der.integer(256), '02020100'],
  ['bytes with zeros in front', der.integer(Uint8Array.of(0, 0, 1)), '020101'],
  ['bytes that look negative', der.integer(Uint8Array.of(0xff, 1)), '020300ff01'],
  ['an oid', der.oid('2.5.4.3'), '0603550403'],
  ['an oid with large arcs', der.oid('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
  ['a sequence', der.sequence(der.integer(5), der.oid('2.5.4.3')), '30080201050603550403'],
  ['true', der.boolean(true), '0101ff'],
  ['bits', der.bitString(Uint8Array.of(0xa0), 5), '030205a0'],
  ['2049', der.time(Date.UTC(2049, 11, 31, 23, 59, 59)), '170d3439313233313233353935395a'],
  ['2050', der.time(Date.UTC(2050, 0, 1)), '180f32303530303130313030303030305a'],
]
for (const [name, bytes, hex] of cases)
  test(`DER of ${name}`, () => assert.equal(bytes.toString('hex'), hex))

for (const length of [0x7f, 0x80, 0xff, 0x100, 0x10000])
  test(`a value of ${length} bytes is found again`, () => {
    const whole = der.octetString(Buffer.alloc(length, 7))
    const [value] = der.valuesIn(whole) ?? []
    assert.equal(value?.contents.length, length)
    assert.deepEqual(value?.whole, whole)
  })

for (const hex of ['30', '3005', '308000', '308500000000', '3084ffffffff00', '30820001'])
  test(`garbled ${hex} is no value`, () =>
    assert.equal(der.valuesIn(Buffer.from(hex, 'hex')), undefined))

const texts: [name: string, tag: number, hex: string, expected: der.DerText][] = [
  ['UTF-8', 0x0c, 'c3bc78', { text: 'üx' }],
  ['UTF-8 with a mark in front', 0x0c, 'efbbbf61', { text: '\ufeffa' }],
  ['no UTF-8', 0x0c, 'ff', { problem: 'not UTF-8' }],
  ['digits', 0x12, '3132', { text: '12' }],
  ['printable', 0x13, '6162', { text: 'ab' }],
  ['not printable', 0x13, 'e9', { problem: 'not ASCII' }],
  ['ASCII', 0x16, '61', { text: 'a' }],
  ['telex', 0x14, 'e961', { text: 'éa' }],
  ['two bytes each', 0x1e, '00e90061', { text: 'éa' }],
  ['half a letter', 0x1e, '00', { problem: 'odd length' }],
  ['bytes', 0x04, '61', { problem: 'no text has tag 4' }],
  ['four bytes each', 0x1c, '00000061', { problem: 'no text has tag 28' }],
]
for (const [name, tag, hex, expected] of texts)
  test(`text: ${name}`, () =>
    assert.deepEqual(der.readText(tag, Buffer.from(hex, 'hex')), expected))
