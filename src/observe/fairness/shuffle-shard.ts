/**
 * Shuffle sharding: selects the queues of a flow by a hash of its name, like a hand of cards from a
 * deck. Two flows rarely have the same hand. So a flow that fills its queues leaves most other
 * flows at least one free queue.
 */
import { createHash } from 'node:crypto'

/**
 * Limit of hash bits for dealing. With more bits the last card would not be uniformly distributed.
 */
export const hashBitsMax = 60

export const neededBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand)

export function flowHash(schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0)
}

/** Draws `hand` different numbers below `deck`, like cards from a deck. */
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
