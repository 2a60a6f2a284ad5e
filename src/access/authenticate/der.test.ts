import assert from 'node:assert/strict'
import { test } from 'node:test'
import { derBoolean, derText, derValue, derValues, objectIdentifier, smallInteger } from './der.ts'

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const one = (hex: string) => derValue(bytes(hex))

const read: [name: string, value: () => unknown, expected: unknown][] = [
  ['a short value', () => one('0402abcd').content.toString('hex'), 'abcd'],
  ['a long one', () => one(`048180${'00'.repeat(128)}`).content.length, 128],
  ['a longer one', () => one(`04820100${'00'.repeat(256)}`).content.length, 256],
  ['several', () => derValues(bytes('0400050030020500')).map(({ tag }) => tag), [4, 5, 48]],
  ['none', () => derValues(bytes('')), []],
  ['an identifier', () => objectIdentifier(one('0603550403')), '2.5.4.3'],
  [
    'an identifier of many bytes',
    () => objectIdentifier(one('06092a864886f70d01010b')),
    '1.2.840.113549.1.1.11',
  ],
  ['an identifier of the third arc', () => objectIdentifier(one('0603883703')), '2.999.3'],
  ['an identifier of the first arc', () => objectIdentifier(one('060109')), '0.9'],
  ['yes', () => derBoolean(one('0101ff')), true],
  ['no', () => derBoolean(one('010100')), false],
  ['a number', () => smallInteger(one('02020100')), 256],
  ['text of two bytes each', () => derText(one('1e0400e90061')), 'éa'],
]
for (const [name, value, expected] of read)
  test(`reads ${name}`, () => assert.deepEqual(value(), expected))

const refused: [name: string, value: () => unknown, message: string][] = [
  ['nothing', () => one(''), 'truncated'],
  ['a tag alone', () => one('04'), 'truncated'],
  ['more than there is', () => one('0403abcd'), 'truncated'],
  ['a length cut short', () => one('048201'), 'truncated'],
  ['what follows', () => one('040000'), 'trailing data'],
  ['a tag of several bytes', () => one('1f810100'), 'long tag'],
  ['a length that does not end', () => one('048000'), 'length out of range'],
  ['a length of five bytes', () => one('04850000000001ab'), 'length out of range'],
  ['a length of one byte too many', () => one('048101ab'), 'length not minimal'],
  ['a length with a leading zero', () => one(`04820080${'00'.repeat(128)}`), 'length not minimal'],
  ['a length beyond all memory', () => one('0484ffffffff'), 'truncated'],
  ['another tag', () => objectIdentifier(one('0401ab')), 'expected tag 6, found 4'],
  ['no value', () => objectIdentifier(undefined), 'expected tag 6, found undefined'],
  ['half an identifier', () => objectIdentifier(one('06025586')), 'truncated object identifier'],
  [
    'an identifier beyond numbers',
    () => objectIdentifier(one(`060a55${'ff'.repeat(8)}7f`)),
    'object identifier out of range',
  ],
  ['two truths', () => derBoolean(one('01020000')), 'malformed boolean'],
  ['no truth', () => derBoolean(one('0100')), 'malformed boolean'],
  ['a number below zero', () => smallInteger(one('020180')), 'integer out of range'],
  ['a number of five bytes', () => smallInteger(one('02050100000000')), 'integer out of range'],
  ['no number', () => smallInteger(one('0200')), 'integer out of range'],
  ['text of another type', () => derText(one('0401ab')), 'no text has tag 4'],
]
for (const [name, value, message] of refused)
  test(`refuses ${name}`, () => assert.throws(value, { name: 'DerError', message }))
