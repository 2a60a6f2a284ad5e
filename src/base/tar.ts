/**
 * Headers of tar archives, in the format `ustar` that every tar reads. A file is a header of 512
 * bytes, its bytes, and zeros up to the next multiple of 512. Two blocks of zeros end the archive:
 *
 *   header "pki/ca.crt" | 700 bytes | 324 zeros | header "state.db" | … | 1024 zeros
 *
 * It reads and writes no file.
 */

export const tarBlockBytes = 512

export interface TarEntry {
  readonly name: string
  readonly sizeBytes: number
  /** Permission bits; 0o600 for secrets. */
  readonly mode: number
  readonly modifiedSeconds: number
  /** User and group ID; 0 if unset. */
  readonly ownerId?: number
  /** A directory has size 0. */
  readonly isFolder?: boolean
  /** The target of a symbolic link, which has no contents. */
  readonly linksTo?: string
}

/** Numbers in tar headers are octal. Larger sizes do not fit and are written in base 256. */
const octalMax = 8 ** 11
const nameBytesMax = 100
const prefixBytesMax = 155
const checksumAt = 148

/** Name and prefix: a path longer than 100 bytes is cut at a slash. */
function nameParts(name: string): [name: string, prefix: string] {
  if (Buffer.byteLength(name) <= nameBytesMax) return [name, '']
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
    const parts: [string, string] = [name.slice(at + 1), name.slice(0, at)]
    if (Buffer.byteLength(parts[0]) > nameBytesMax) continue
    if (Buffer.byteLength(parts[1]) <= prefixBytesMax) return parts
  }
  throw new RangeError(`the name ${name} is too long for an archive`)
}

export function tarHeader(entry: TarEntry): Buffer {
  const header = Buffer.alloc(tarBlockBytes)
  const isFolder = entry.isFolder === true
  const [name, prefix] = nameParts(isFolder ? `${entry.name.replace(/\/$/, '')}/` : entry.name)
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), at)
  header.write(name, 0)
  octal(entry.mode, 100, 8)
  octal(entry.ownerId ?? 0, 108, 8)
  octal(entry.ownerId ?? 0, 116, 8)
  if (entry.sizeBytes < octalMax) octal(entry.sizeBytes, 124, 12)
  else {
    header[124] = 0x80
    header.writeBigUInt64BE(BigInt(entry.sizeBytes), 128)
  }
  octal(Math.floor(entry.modifiedSeconds), 136, 12)
  header.write(isFolder ? '5' : entry.linksTo === undefined ? '0' : '2', 156)
  header.write(entry.linksTo ?? '', 157)
  header.write('ustar\0' + '00', 257)
  header.write(prefix, 345)
  octal(sumOf(header), checksumAt, 7)
  header[155] = 0x20
  return header
}

/** The sum of all header bytes, with spaces in place of the checksum. */
function sumOf(header: Buffer): number {
  let sum = 8 * 0x20
  for (const [at, byte] of header.entries())
    if (at < checksumAt || at >= checksumAt + 8) sum += byte
  return sum
}

/** Parses a header; undefined at the end of the archive. Throws if the bytes are not a header. */
export function readTarHeader(header: Buffer): TarEntry | undefined {
  if (header.every((byte) => byte === 0)) return undefined
  const text = (at: number, length: number) => {
    const end = header.indexOf(0, at)
    return header.toString('utf8', at, end === -1 || end > at + length ? at + length : end)
  }
  const octal = (at: number, length: number) => Number.parseInt(text(at, length).trim(), 8)
  if (octal(checksumAt, 8) !== sumOf(header)) throw new RangeError('not a header of an archive')
  const prefix = text(345, prefixBytesMax)
  const type = text(156, 1)
  return {
    name: prefix === '' ? text(0, nameBytesMax) : `${prefix}/${text(0, nameBytesMax)}`,
    sizeBytes: header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : octal(124, 12),
    mode: octal(100, 8),
    modifiedSeconds: octal(136, 12),
    ...(octal(108, 8) > 0 && { ownerId: octal(108, 8) }),
    ...(type === '5' && { isFolder: true }),
    ...(type === '2' && { linksTo: text(157, nameBytesMax) }),
  }
}

/** The number of zeros after the contents of a file. */
export const tarPaddingBytes = (sizeBytes: number): number =>
  (tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes
