/**
 * The header blocks of one connection. A block consists of one or more consecutive frames. All
 * blocks share one dynamic table, so each must be decoded, even if its stream was reset.
 */
import { unpadded } from './frame-reader.ts'
import { ConnectionError, errorCode, flag, frameSizeError, protocolError } from './frames.ts'
import { HeaderDecoder } from './header-decoder.ts'
import { fieldsOf, type HeaderFields } from './request-head.ts'
import { blockFramesMax, headerBytesMax } from './limits.ts'

/** A complete header block. */
export interface HeaderBlock {
  readonly stream: number
  /** Whether the block ends the stream. */
  readonly ended: boolean
  readonly fields: HeaderFields
}

/** A block that is not yet complete. */
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

  /** `begin` and `goOn` return the block when the frame completes it. */
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

/** The priority field starts with the stream that this one depends on; it must be another one. */
export function requireOther(stream: number, priority: Buffer): void {
  if ((priority.readUInt32BE(0) & 0x7fffffff) === stream)
    throw protocolError('a stream depends on itself')
}
