/** Five characters for generated names, of letters that make no words. */
import { randomBytes } from 'node:crypto'

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Chance by the page: asking for five bytes at a time costs as much as asking for a page. */
let chance = Buffer.alloc(0)

export function randomSuffix(): string {
  if (chance.length < 5) chance = randomBytes(4096)
  let text = ''
  for (const byte of chance.subarray(0, 5)) text += letters[byte % letters.length]
  chance = chance.subarray(5)
  return text
}
