/**
 * Checks the write-ahead log that exists at start: which pages it holds, and whether it is damaged.
 * SQLite uses the frames before the first wrong checksum and silently ignores the rest. That is
 * correct if a crash interrupted an unacknowledged write. In a damaged log it loses acknowledged
 * writes and mixes old and new pages. This module only reads.
 *
 * SQLite writes more frames after a commit only when the commit is on disk. So a wrong frame was
 * once correct if a later commit is followed by another correct frame:
 *
 *   frame   1 fits   2 fits, commits   3 does not   4 fits, commits   5 fits   → damaged
 *   frame   1 fits   2 fits, commits   3 does not   4 fits, commits            → being written
 */
import { readSync } from 'node:fs'

const headerSizeBytes = 32
const frameHeaderSizeBytes = 24
/** The offset of the checksums: at the end of the file header and of a frame header. */
const headerSumsAt = 24
const frameSumsAt = 16

/** The magic number without its last bit, which is the byte order of the checksums. */
const magic = 0x377f0682 >>> 1

export interface FoundLog {
  /** The pages in valid frames. */
  readonly pages: ReadonlySet<number>
  /** Describes the damage. */
  readonly problem?: string
}

const empty: FoundLog = { pages: new Set() }

export function readLog(descriptor: number, sizeBytes: number, pageSize: number): FoundLog {
  const header = Buffer.alloc(headerSizeBytes)
  // The file was truncated while it was created, or space was reserved and nothing written.
  if (sizeBytes < headerSizeBytes) return empty
  readSync(descriptor, header, 0, headerSizeBytes, 0)
  if (header.every((byte) => byte === 0)) return empty
  const isOurs = header.readUInt32BE(0) >>> 1 === magic && header.readUInt32BE(8) === pageSize
  const log = new LogReader(header)
  if (!isOurs || !log.fits(header, headerSumsAt))
    return { ...empty, problem: 'it does not begin as the log of a database does' }
  const pages = new Set<number>()
  const frame = Buffer.alloc(frameHeaderSizeBytes + pageSize)
  let misfit: number | undefined
  let isCommitted = false
  for (let at = headerSizeBytes; at + frame.length <= sizeBytes; at += frame.length) {
    readSync(descriptor, frame, 0, frame.length, at)
    const isOwn = log.owns(frame)
    const isFit = log.fits(frame, frameSumsAt) && isOwn
    if (isFit && misfit === undefined) pages.add(frame.readUInt32BE(0))
    else if (isFit && isCommitted) return { pages, problem: `it is damaged at byte ${misfit}` }
    else if (!isFit && misfit !== undefined) break
    if (!isFit) misfit = at
    isCommitted ||= misfit !== undefined && isOwn && frame.readUInt32BE(4) > 0
  }
  return { pages }
}

/** Checksums are cumulative: each starts with the stored checksum of the previous frame. */
class LogReader {
  readonly #salts: Buffer
  readonly #isLittleEndian: boolean
  #first = 0
  #second = 0

  constructor(header: Buffer) {
    this.#salts = header.subarray(16, headerSumsAt)
    this.#isLittleEndian = (header[3] as number) % 2 === 0
  }

  /** Frames after the last one belong to an earlier use of the file, or are reserved space. */
  owns(frame: Buffer): boolean {
    return frame.readUInt32BE(0) > 0 && frame.subarray(8, frameSumsAt).equals(this.#salts)
  }

  /**
   * Whether the header and the page after it match the stored checksum, which excludes a frame's
   * salts.
   */
  fits(bytes: Buffer, sumsAt: number): boolean {
    this.#add(bytes.subarray(0, sumsAt === frameSumsAt ? 8 : sumsAt))
    this.#add(bytes.subarray(sumsAt + 8))
    const [first, second] = [bytes.readUInt32BE(sumsAt), bytes.readUInt32BE(sumsAt + 4)]
    const isFit = first === this.#first && second === this.#second
    this.#first = first
    this.#second = second
    return isFit
  }

  #add({ buffer, byteOffset, length }: Buffer): void {
    const view = new DataView(buffer, byteOffset, length)
    let first = this.#first
    let second = this.#second
    for (let at = 0; at < length; at += 8) {
      first = (first + view.getUint32(at, this.#isLittleEndian) + second) >>> 0
      second = (second + view.getUint32(at + 4, this.#isLittleEndian) + first) >>> 0
    }
    this.#first = first
    this.#second = second
  }
}
