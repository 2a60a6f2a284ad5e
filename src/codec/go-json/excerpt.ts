/**
 * Formats a slice of bytes like Go in JSON: valid UTF-8 is text, and each invalid byte becomes a
 * replacement character. A slice may begin or end within a character.
 */
const replacement = '\ufffd'

export function excerpt(bytes: Buffer, from: number, to: number): string {
  const end = Math.min(to, bytes.length)
  let text = ''
  for (let i = Math.max(from, 0); i < end; ) {
    const length = lengthFrom(bytes[i] as number)
    const character = bytes.toString('utf8', i, Math.min(i + length, end))
    const isWhole = length === 1 || (i + length <= end && !character.includes(replacement))
    text += isWhole ? character : replacement
    i += isWhole ? length : 1
  }
  return text
}

const lengthFrom = (lead: number): number =>
  lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
