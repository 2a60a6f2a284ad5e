/**
 * The random source as an argument, for uids, suffixes of generated names and jitter. Tests pass a
 * seeded source.
 */
import { randomBytes, randomUUID } from 'node:crypto'

export interface Random {
  /** At least 0 and less than 1. */
  number(): number
  bytes(count: number): Buffer
  /** A version 4 UUID: `2f1d0a9c-…`. */
  uuid(): string
}

export const systemRandom: Random = {
  number: Math.random,
  bytes: randomBytes,
  uuid: randomUUID,
}
