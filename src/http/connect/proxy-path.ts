/**
 * The backend path of a proxy request: the part after the subresource, cleaned and encoded as in
 * Go.
 */

/** Resolves `.` and `..` and removes doubled slashes; never leaves the root. */
export function cleanPath(path: string): string {
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') kept.pop()
    else kept.push(part)
  }
  return `/${kept.join('/')}`
}

/** Like `cleanPath`, but keeps a trailing slash. */
export function cleanAsSent(path: string): string {
  const cleaned = cleanPath(path)
  return path.endsWith('/') && cleaned !== '/' ? `${cleaned}/` : cleaned
}

/**
 * `rest` is the decoded path after the subresource, or empty. The requested path decides whether
 * the result ends with a slash.
 */
export function proxyPath(rest: string, requestPath: string): string {
  const slash = requestPath.endsWith('/')
  if (rest === '') return slash ? '/' : ''
  const cleaned = cleanPath(rest)
  return slash && !cleaned.endsWith('/') ? `${cleaned}/` : cleaned
}

/** Bytes that Go does not escape in a path. */
export const encodePath = (path: string): string =>
  encodeURIComponent(path)
    .replace(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, (escaped) => decodeURIComponent(escaped))
    .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
