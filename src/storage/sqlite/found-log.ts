/**
 * The log beside the database as a start finds it: which pages it holds, and whether it is damaged.
 * SQLite takes what comes before the first frame whose checksum does not fit and silently ignores
 * the rest. That is right if a crash cut short an unacknowledged write. With a damaged log it loses
 * acknowledged writes, and mixes old pages with newer ones that were copied already. Nothing here
 * writes.
 *
 * What follows a commit was written when the commit was on the disk. So a frame that does not fit,
 * and behind it a commit and more of the same log, was whole once:
 *
 *   frame   1 fits   2 fits, commits   3 does not   4 fits, commits   5 fits   → damaged
 *   frame   1 fits   2 fits, commits   3 does not   4 fits, commits            → being written
 */
import { readSync } from 'node:fs'

const headerSizeBytes = 32
const frameHeaderSizeBytes = 24
/** Where their checksums stand: at the end of both. */
const headerSumsAt = 24
const frameSumsAt = 16

/** Without its last bit, which says in which order of bytes checksums take their numbers. */
const magic = 0x377f0682 >>> 1

export interface FoundLog {
  /** The pages in it that count. */
  readonly pages: ReadonlySet<number>
  /** What is wrong with it. */
  readonly problem?: string
}

const empty: FoundLog = { pages: new Set() }

export function readLog(descriptor: number, sizeBytes: number, pageSize: number): FoundLog {
  const header = Buffer.alloc(headerSizeBytes)
  // Cut short while it was made, or room was made in it and nothing written.
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

/** The sums go on from one another, each from what the frame before says that its own are. */
class LogReader {
  readonly #salts: Buffer
  readonly #isLittleEndian: boolean
  #first = 0
  #second = 0

  constructor(header: Buffer) {
    this.#salts = header.subarray(16, headerSumsAt)
    this.#isLittleEndian = (header[3] as number) % 2 === 0
  }

  /** Frames behind the last one are of an earlier use of the file, or nothing but room. */
  owns(frame: Buffer): boolean {
    return frame.readUInt32BE(0) > 0 && frame.subarray(8, frameSumsAt).equals(this.#salts)
  }

  /**
   * Whether what a header says, and the page behind it, fit the sums in it. A frame's salts are not
   * summed again.
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
