/**
 * The order of keys in YAML output: letters after all other characters, and numbers within keys by
 * value (`a2` before `a10`).
 */

const isLetter = (char: string): boolean => /\p{L}/u.test(char)
const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char)

export function keyOrder(left: string, right: string): number {
  if (left === right) return 0
  const a = [...left]
  const b = [...right]
  const shorter = Math.min(a.length, b.length)
  let at = 0
  while (at < shorter && a[at] === b[at]) at++
  if (at === shorter) return a.length - b.length
  return differingOrder(a, b, at)
}

function differingOrder(a: readonly string[], b: readonly string[], at: number): number {
  const one = a[at] as string
  const other = b[at] as string
  if (isLetter(one) && isLetter(other)) return codeOf(one) - codeOf(other)
  if (isLetter(one)) return 1
  if (isLetter(other)) return -1
  const lead = one === '0' || other === '0' ? leadOf(a, at) : 0n
  const first = numberAt(a, at, lead)
  const second = numberAt(b, at, lead)
  if (first.value !== second.value) return first.value < second.value ? -1 : 1
  return first.length - second.length || codeOf(one) - codeOf(other)
}

const codeOf = (char: string): number => char.codePointAt(0) as number

/** A zero counts as a digit within a number, and as padding before it. */
function leadOf(a: readonly string[], at: number): bigint {
  for (let i = at - 1; i >= 0 && isDigit(a[i]); i--) if (a[i] !== '0') return 1n
  return 0n
}

/** Numbers wrap around at 64 bits. */
function numberAt(chars: readonly string[], at: number, lead: bigint) {
  let value = lead
  let length = 0
  for (; isDigit(chars[at + length]); length++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(chars[at + length] as string) - 0x30))
  }
  return { value, length }
}
