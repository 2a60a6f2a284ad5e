/** Which addresses a block has, and in which order they are tried. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressBlock } from './address-block.ts'

const blocks: [text: string, begin: string, first: string, random: number, count?: number][] = [
  ['10.0.0.0/29', '10.0.0.0', '10.0.0.1', 0, 6],
  ['10.0.0.0/29', '10.0.0.0', '10.0.0.4', 0.5, 6],
  ['10.0.0.0/24', '10.0.0.0', '10.0.0.17', 0, 254],
  ['10.0.0.0/24', '10.0.0.0', '10.0.0.254', 0.9999, 254],
  ['10.0.0.7/32', '10.0.0.7', 'none', 0, 0],
  ['fd00::/124', 'fd00::', 'fd00::1', 0, 15],
  ['fd00::/112', 'fd00::', 'fd00::101', 0],
  ['fd00::/64', 'fd00::', 'fd00::101', 0],
]
for (const [text, begin, first, random, count] of blocks) {
  test(`${text} from ${random} on`, () => {
    const block = new AddressBlock(text)
    assert.equal(block.begin, begin)
    const [found = 'none'] = block.addresses(() => random)
    assert.equal(found, first)
    if (count === undefined) return
    const all = [...block.addresses(() => random)]
    assert.deepEqual([all.length, new Set(all).size], [count, count])
    assert.ok(all.every((address) => block.offers(address)))
  })
}

const offers: [text: string, address: string, isOffered: boolean][] = [
  ['10.0.0.0/29', '10.0.0.0', false],
  ['10.0.0.0/29', '10.0.0.1', true],
  ['10.0.0.0/29', '10.0.0.6', true],
  ['10.0.0.0/29', '10.0.0.7', false],
  ['10.0.0.0/29', '10.0.0.8', false],
  ['10.0.0.0/29', 'fd00::1', false],
  ['fd00::/124', 'fd00::', false],
  ['fd00::/124', 'fd00::f', true],
  ['fd00::/124', 'fd00::10', false],
]
for (const [text, address, isOffered] of offers) {
  test(`${text} ${isOffered ? 'has' : 'does not have'} ${address}`, () =>
    assert.equal(new AddressBlock(text).offers(address), isOffered))
}
