/**
 * The vocabulary of HTTP/2 (RFC 9113): frame types, flags, settings and error codes. Also encodes
 * the frames that contain only numbers.
 */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  concurrentStreamsMax: 3,
  initialWindowSize: 4,
  frameSizeMax: 5,
  headerListSizeMax: 6,
} as const

export const errorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  compression: 9,
  enhanceYourCalm: 11,
} as const

/** The client connection preface of HTTP/2. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
/** Bytes before the payload of a frame. */
export const frameHeadBytes = 9
/** The initial window of a stream and of a connection. */
export const windowBytesInitial = 65_535
/** The maximum window. */
export const windowBytesMax = 2 ** 31 - 1
/** The initial maximum payload. This server accepts and sends no larger one. */
export const payloadBytesMax = 16_384

/** Writes the nine bytes before a payload. */
export function writeFrameHead(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  into[at] = length >>> 16
  into[at + 1] = length >>> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flags
  into.writeUInt32BE(stream, at + 5)
}

function numbersFrame(type: number, flags: number, stream: number, words: number[]): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + words.length * 4)
  writeFrameHead(frame, 0, words.length * 4, type, flags, stream)
  words.forEach((word, index) => {
    frame.writeUInt32BE(word, frameHeadBytes + index * 4)
  })
  return frame
}

export const resetFrame = (stream: number, code: number) =>
  numbersFrame(frameType.reset, 0, stream, [code])

export const windowUpdateFrame = (stream: number, bytes: number) =>
  numbersFrame(frameType.windowUpdate, 0, stream, [bytes])

export const goAwayFrame = (lastStream: number, code: number) =>
  numbersFrame(frameType.goAway, 0, 0, [lastStream, code])

export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + settings.length * 6)
  writeFrameHead(frame, 0, settings.length * 6, frameType.settings, 0, 0)
  settings.forEach(([name, value], index) => {
    frame.writeUInt16BE(name, frameHeadBytes + index * 6)
    frame.writeUInt32BE(value, frameHeadBytes + index * 6 + 2)
  })
  return frame
}

export const settingsAckFrame = numbersFrame(frameType.settings, flag.ack, 0, [])

export function pingAckFrame(payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + 8)
  writeFrameHead(frame, 0, 8, frameType.ping, flag.ack, 0)
  payload.copy(frame, frameHeadBytes, 0, 8)
  return frame
}

/** An error that closes the connection with a code. */
export class ConnectionError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const protocolError = (why: string) => new ConnectionError(errorCode.protocol, why)
export const frameSizeError = (why: string) => new ConnectionError(errorCode.frameSize, why)
