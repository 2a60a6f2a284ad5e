/**
 * Which queues a flow may use: a hand of cards dealt from the deck of queues, by a hash of the
 * flow's name. Two flows rarely have the same hand, so a flow that fills its queues leaves most
 * others at least one that is free.
 */
import { createHash } from 'node:crypto'

/** Bits of the hash that dealing may consume: with more the last card would be dealt unevenly. */
export const hashBitsMax = 60

export const neededBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand)

export function flowHash(schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0)
}

/** Different numbers below `deck`, `hand` of them: each card is drawn from those that remain. */
export function deal(hash: bigint, deck: number, hand: number): number[] {
  let left = hash
  const drawn: number[] = []
  for (let at = 0; at < hand; at++) {
    const remaining = BigInt(deck - at)
    drawn.push(Number(left % remaining))
    left /= remaining
  }
  return drawn.map((draw, at) => {
    let card = draw
    for (let before = at; before > 0; before--) if (card >= drawn[before - 1]) card++
    return card
  })
}
