/**
 * Texts without certain characters at their ends, in one pass. An expression that ends in `+$` looks from each of the
 * characters on, so that a text with many of them in its middle would hold up everybody.
 */

export function trimEnds(text: string, gone: string): string {
  let start = 0
  while (start < text.length && gone.includes(text[start] as string)) start++
  return trimEnd(text.slice(start), gone)
}

export function trimEnd(text: string, gone: string): string {
  let end = text.length
  while (end > 0 && gone.includes(text[end - 1] as string)) end--
  return text.slice(0, end)
}
