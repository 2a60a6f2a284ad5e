/**
 * The header blocks of one connection: each comes in one frame or in several, and nothing else may
 * come before it is whole. All blocks share one dynamic table, so that every one is decoded,
 * whatever becomes of its stream.
 */
import { unpadded } from './frame-reader.ts'
import { ConnectionError, errorCode, flag, frameSizeError, protocolError } from './frames.ts'
import { HeaderDecoder } from './header-decoder.ts'
import { fieldsOf, type HeaderFields } from './request-head.ts'

/** Header bytes of one request: room for a large token, too little to hurt. */
export const headerBytesMax = 64 * 1024
/** Frames one header block may come in: more than its bytes need. */
const blockFramesMax = 16

/** One that is whole. */
export interface HeaderBlock {
  readonly stream: number
  /** Nothing comes after it. */
  readonly ended: boolean
  readonly fields: HeaderFields
}

/** One of which more is to come. */
interface OpenBlock {
  readonly stream: number
  readonly ended: boolean
  readonly parts: Buffer[]
  size: number
}

export class HeaderBlocks {
  readonly #decoder = new HeaderDecoder(headerBytesMax, fieldsOf)
  #open: OpenBlock | undefined

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Each answers the block that the frame makes whole. */
  begin(flags: number, stream: number, padded: Buffer): HeaderBlock | undefined {
    if (stream % 2 === 0) throw protocolError('clients open streams of odd numbers')
    const payload = unpadded(flags, padded)
    const skipped = (flags & flag.priority) !== 0 ? 5 : 0
    if (payload.length < skipped) throw frameSizeError('a frame is too short')
    if (skipped > 0) requireOther(stream, payload)
    const ended = (flags & flag.endStream) !== 0
    return this.#part({ stream, ended, parts: [], size: 0 }, flags, payload.subarray(skipped))
  }

  goOn(flags: number, stream: number, payload: Buffer): HeaderBlock | undefined {
    if (this.#open?.stream !== stream) throw protocolError('nothing to continue')
    return this.#part(this.#open, flags, payload)
  }

  #part(block: OpenBlock, flags: number, part: Buffer): HeaderBlock | undefined {
    const { stream, ended, parts } = block
    parts.push(part)
    block.size += part.length
    if (block.size > headerBytesMax || parts.length > blockFramesMax)
      throw new ConnectionError(errorCode.enhanceYourCalm, 'the headers are too large')
    const isWhole = (flags & flag.endHeaders) !== 0
    this.#open = isWhole ? undefined : block
    if (!isWhole) return undefined
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    return { stream, ended, fields: this.#decoder.decode(bytes) }
  }
}

/** The priority of a stream begins with the one that it depends on, which is never itself. */
export function requireOther(stream: number, priority: Buffer): void {
  if ((priority.readUInt32BE(0) & 0x7fffffff) === stream)
    throw protocolError('a stream depends on itself')
}
