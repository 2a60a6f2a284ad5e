/**
 * Reusable buffers for large writes, which avoid garbage collection. In one turn of the event loop
 * all connections may write. A connection returns its buffer when the socket has written it. Most
 * writes are no larger than a client's initial flow-control window.
 */

interface Size {
  readonly bytes: number
  /** The number of buffers that are kept. */
  readonly keptMax: number
  readonly kept: Buffer[]
}

/**
 * Bytes per write: enough to keep the socket busy for a turn of the event loop, few enough to
 * assemble at once.
 */
export const writeBytesMax = 256 * 1024

const windowBytes = 64 * 1024
/**
 * The sizes of buffers. A small one holds an initial window and control frames. A large one holds a
 * full write: the last stream may exceed writeBytesMax by what it may send before the next stream,
 * nearly 64 KiB. The other window is room for frame heads.
 */
const sizes: readonly Size[] = [
  { bytes: windowBytes + 16 * 1024, keptMax: 24, kept: [] },
  { bytes: writeBytesMax + 2 * windowBytes, keptMax: 6, kept: [] },
]

/** Below this size, Node's own pool of small buffers is as good. */
const keptBytesMin = 16 * 1024

/** Returns a buffer with at least `bytes` bytes. */
export function acquireMemory(bytes: number): Buffer {
  const size = bytes < keptBytesMin ? undefined : sizes.find((one) => bytes <= one.bytes)
  if (size === undefined) return Buffer.allocUnsafe(bytes)
  return size.kept.pop() ?? Buffer.allocUnsafeSlow(size.bytes)
}

export function releaseMemory(memory: Buffer): void {
  const size = sizes.find((one) => memory.length === one.bytes)
  if (size !== undefined && size.kept.length < size.keptMax) size.kept.push(memory)
}
