/** The decoded length of a base64 text in bytes, without decoding it. */
export function base64Length(text: string | null | undefined): number {
  if (text === null || text === undefined) return 0
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor(text.length / 4) * 3 - padding
}
