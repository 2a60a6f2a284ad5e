/** Random suffixes of generated names: five characters from an alphabet that forms no words. */
import type { Random } from '#base/random.ts'

const letters = 'bcdfghjklmnpqrstvwxz2456789'
/** Random bytes are fetched by the page, because fetching five bytes costs as much. */
const pageBytes = 4096

export function suffixes({ bytes }: Pick<Random, 'bytes'>): () => string {
  let page: Buffer = Buffer.alloc(0)
  return () => {
    if (page.length < 5) page = bytes(pageBytes)
    let text = ''
    for (const byte of page.subarray(0, 5)) text += letters[byte % letters.length]
    page = page.subarray(5)
    return text
  }
}
