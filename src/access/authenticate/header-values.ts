/** The values of a header that may have been sent once, several times or not at all. */
type Header = string | string[] | undefined

export const firstValue = (header: Header): string | undefined =>
  Array.isArray(header) ? header[0] : header

export const allValues = (header: Header): readonly string[] =>
  header === undefined ? [] : Array.isArray(header) ? header : [header]

/** The rest of a header's name as a key: percent-encoded bytes decoded, as they are where that is impossible. */
export function unescapedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

/** Adds to a map whose keys are the client's: any key is an ordinary one. */
export function append(
  map: Record<string, string[]>,
  key: string,
  values: readonly string[],
): void {
  if (Object.hasOwn(map, key)) (map[key] as string[]).push(...values)
  else
    Object.defineProperty(map, key, {
      value: [...values],
      enumerable: true,
      writable: true,
      configurable: true,
    })
}
