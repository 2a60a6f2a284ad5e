/** A header value as Node provides it: absent, one value or several values. */
type Header = string | string[] | undefined

export const firstValue = (header: Header): string | undefined =>
  Array.isArray(header) ? header[0] : header

export const allValues = (header: Header): readonly string[] =>
  header === undefined ? [] : Array.isArray(header) ? header : [header]

/**
 * Node decodes each byte of a header as one Latin-1 character. Clients send UTF-8, so decode the
 * value again.
 */
const meant = (value: string): string =>
  /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value

/**
 * The first value, decoded from UTF-8, because names of users and groups may be in any language.
 */
export const firstText = (header: Header): string | undefined => {
  const value = firstValue(header)
  return value === undefined ? undefined : meant(value)
}
export const allTexts = (header: Header): readonly string[] => allValues(header).map(meant)

/** Decodes a percent-encoded header name suffix. Returns it unchanged if it is not valid. */
export function unescapedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

/**
 * Appends values to a map with client-defined keys. A key such as `__proto__` is an ordinary key.
 */
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
 * Builds a header record from Node's raw list of names and values. A repeated header keeps separate
 * values. Node joins them with commas, which would turn two groups into one group with another
 * name.
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
    // Append in place: copying would be slow if a client sends one header thousands of times.
    else if (Array.isArray(before)) before.push(value)
    else headers[name] = [before, value]
  }
  return headers
}

/** A header as one string: values of a repeated header are joined with commas. */
export const headerText = (value: Header): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '')
