/** The errors of Go's client for TLS alerts of the server. */

/** Messages by alert number. */
const alerts: ReadonlyMap<number, string> = new Map([
  [10, 'unexpected message'],
  [20, 'bad record MAC'],
  [40, 'handshake failure'],
  [42, 'bad certificate'],
  [43, 'unsupported certificate'],
  [44, 'revoked certificate'],
  [45, 'expired certificate'],
  [46, 'unknown certificate'],
  [47, 'illegal parameter'],
  [48, 'unknown certificate authority'],
  [49, 'access denied'],
  [50, 'error decoding message'],
  [51, 'error decrypting message'],
  [70, 'protocol version not supported'],
  [71, 'insufficient security level'],
  [80, 'internal error'],
  [112, 'unrecognized name'],
  [116, 'certificate required'],
  [120, 'no application protocol'],
])

/** The alert in the message of a failed connection; undefined if the other side gave no reason. */
export function alertWords(message: string): string | undefined {
  const alert = alerts.get(Number(/SSL alert number (\d+)/.exec(message)?.[1]))
  return alert === undefined ? undefined : `remote error: tls: ${alert}`
}
