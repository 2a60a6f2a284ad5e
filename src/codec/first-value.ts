/**
 * Finds the end of the first JSON value in a text. It does not check whether the value is valid;
 * the decoder does.
 */
const quote = 0x22
const backslash = 0x5c
const opening = new Set([0x7b, 0x5b])
const closing = new Set([0x7d, 0x5d])
const blank = new Set([0x20, 0x09, 0x0a, 0x0d])

export function firstValue(bytes: Buffer): Buffer {
  let depth = 0
  let inText = false
  let begun = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) {
        inText = false
        if (depth === 0) return bytes.subarray(0, at + 1)
      }
      continue
    }
    // A number or a word ends at the first character that cannot continue it.
    const isEnd = begun && depth === 0 && (blank.has(byte) || byte === quote || opening.has(byte))
    if (isEnd) return bytes.subarray(0, at)
    if (byte === quote) inText = true
    else if (opening.has(byte)) depth++
    else if (closing.has(byte)) {
      if (--depth <= 0) return bytes.subarray(0, at + 1)
    }
    begun ||= !blank.has(byte)
  }
  return bytes
}
