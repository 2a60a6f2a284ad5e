/**
 * Names of fields as identifiers of CEL: `x-prop` → `x__dash__prop`, `namespace` → `__namespace__`.
 * A name with other characters has no identifier, so that expressions cannot read the field.
 */

const reserved: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for'],
  ...['function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var'],
  ...['void', 'while'],
])

const escapes = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
])
const unescapes = new Map([...escapes].map(([plain, escaped]) => [escaped, plain]))

/** Undefined if the name has no identifier. */
export function escapeFieldName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[-./]/g, (part) => escapes.get(part) as string)
}

/** Undefined if the identifier contains a sequence that escapes nothing. */
export function unescapeFieldName(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier
  let isValid = true
  const name = identifier.replace(/__[^_]+__/g, (sequence) => {
    const plain = unescapes.get(sequence)
    if (plain !== undefined) return plain
    const word = sequence.slice(2, -2)
    isValid &&= reserved.has(word) && sequence.length === identifier.length
    return word
  })
  return isValid ? name : undefined
}
