/**
 * Sends the user to an aggregated server in headers, which the server trusts because of our client
 * certificate.
 */
import type { User } from '#access/user.ts'
import type { PassedHeaders } from '#http/connect/passed-headers.ts'

/**
 * A key of `extra` as part of a header name: characters that header names cannot contain are
 * percent-encoded.
 */
const escapedKey = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9!#$&'*+\-.^_`|~]/.test(letter)
      ? letter
      : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  }).join('')

/**
 * As a header value with one character per byte, because names may contain any Unicode character.
 */
const inBytes = (text: string): string => Buffer.from(text).toString('latin1')

/** `showsUid`: whether the server also learns the uid, which older releases do not send. */
export function remoteUserHeaders(
  { name, uid, groups, extra }: User,
  showsUid = false,
): PassedHeaders {
  const headers: PassedHeaders = Object.create(null)
  headers['x-remote-user'] = inBytes(name)
  if (showsUid && uid !== '') headers['x-remote-uid'] = inBytes(uid)
  if (groups.length > 0) headers['x-remote-group'] = groups.map(inBytes)
  for (const [key, values] of Object.entries(extra)) {
    headers[`x-remote-extra-${escapedKey(key).toLowerCase()}`] = values.map(inBytes)
  }
  return headers
}
