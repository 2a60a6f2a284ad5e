/** The values of a header that may have been sent once, several times or not at all. */
type Header = string | string[] | undefined

export const firstValue = (header: Header): string | undefined =>
  Array.isArray(header) ? header[0] : header

export const allValues = (header: Header): readonly string[] =>
  header === undefined ? [] : Array.isArray(header) ? header : [header]

/**
 * As its sender meant it: text beyond ASCII comes in UTF-8, of which Node makes a character of each
 * byte.
 */
const meant = (value: string): string =>
  /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value

/** The first value and all of them, as texts: names of users and groups are in any language. */
export const firstText = (header: Header): string | undefined => {
  const value = firstValue(header)
  return value === undefined ? undefined : meant(value)
}
export const allTexts = (header: Header): readonly string[] => allValues(header).map(meant)

/**
 * The rest of a header's name as a key: percent-encoded bytes decoded, as they are where that is
 * impossible.
 */
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

/**
 * Headers from the list of names and values as they were sent: what came several times stays
 * several values. Node's own record joins them with commas, which turns two groups into one of
 * another name.
 */
export function separateHeaders(
  raw: readonly string[],
): Readonly<Record<string, string | string[]>> {
  const headers = Object.create(null) as Record<string, string | string[]>
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase()
    const value = raw[i + 1] as string
    const before = headers[name]
    if (before === undefined) headers[name] = value
    // Added, not copied: a stranger may send one name thousands of times.
    else if (Array.isArray(before)) before.push(value)
    else headers[name] = [before, value]
  }
  return headers
}

/** A header as one text: what a client sends in several lines counts as joined by commas. */
export const headerText = (value: Header): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '')
