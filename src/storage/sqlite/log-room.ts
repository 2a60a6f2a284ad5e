/**
 * Room in the log, made ahead of what will be written there. A log that grows with every write makes the file system
 * write down its size and place each time too, which takes longer than the write; written over, it does not. What lies
 * behind the last write is nothing but zeros, at which SQLite stops reading. It never touches what was written.
 */
import { closeSync, fstatSync, fsync, openSync, statfsSync, writeSync } from 'node:fs'

/** Little at a time: a write that comes meanwhile waits for as much to reach the disk. */
const stepBytes = 1024 * 1024

/** Room is made where there is this much more of it: a disk that is nearly full has better use for what is left. */
const spareTimes = 64

export interface RoomOptions {
  /** The log; where it is missing nothing is done. */
  readonly file: string
  readonly sizeBytes: number
  /** Asked before each step. */
  isOver(): boolean
  /** What the disk has left, in bytes. */
  freeBytes?(): number
}

/** Called by the thread that writes the log, so that nothing else lengthens it during a step. Says when it is done. */
export function makeRoom(options: RoomOptions): Promise<void> {
  const free = options.freeBytes ?? (() => freeBytesBeside(options.file))
  return new Promise((resolve) => {
    let descriptor: number | undefined
    const end = () => {
      if (descriptor !== undefined) closeSync(descriptor)
      resolve()
    }
    const step = () => {
      try {
        if (options.isOver()) return end()
        descriptor ??= openSync(options.file, 'r+')
        const { size } = fstatSync(descriptor)
        const missing = options.sizeBytes - size
        if (missing <= 0 || free() < missing * spareTimes) return end()
        writeSync(descriptor, Buffer.alloc(Math.min(stepBytes, missing)), 0, null, size)
        fsync(descriptor, step)
      } catch {
        // Without room writes take longer, that is all.
        end()
      }
    }
    step()
  })
}

function freeBytesBeside(file: string): number {
  const { bavail, bsize } = statfsSync(file)
  return bavail * bsize
}
