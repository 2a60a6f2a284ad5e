/** Parses the name in a proxy request: `name`, `name:port` or `scheme:name:port`. */

export interface NamedTarget {
  readonly scheme: '' | 'http' | 'https'
  readonly name: string
  readonly port: string
}

/** Undefined if the text has none of the three forms. */
export function parseNamedTarget(text: string): NamedTarget | undefined {
  const parts = text.split(':')
  const [scheme, name, port] =
    parts.length === 1
      ? ['', parts[0], '']
      : parts.length === 2
        ? ['', parts[0], parts[1]]
        : parts.length === 3
          ? parts
          : ['', '', '']
  if (name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) return undefined
  return { scheme, name, port }
}
