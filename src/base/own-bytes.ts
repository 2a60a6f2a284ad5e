/**
 * Encodes a text into memory of its own, for bytes that live long. `Buffer.from` puts small texts
 * into a pool of 64 KiB that they share. One long-lived text would keep the whole pool in memory.
 */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
