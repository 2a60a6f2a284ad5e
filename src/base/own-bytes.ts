/**
 * A text as bytes in memory of their own, for bytes that live long. `Buffer.from` takes small ones
 * from Node's pool, of which each keeps 64 KiB of short-lived data alive.
 */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
