/**
 * Room in the log, made ahead of what will be written there. A log that grows with every write
 * makes the file system write down its size and place each time too, which takes longer than the
 * write; written over, it does not. What lies behind the last write is nothing but zeros, at which
 * SQLite stops reading. It never touches what was written.
 */
import { closeSync, fstatSync, fsync, openSync, statfsSync, writeSync } from 'node:fs'

/** Little at a time: a write that comes meanwhile waits for as much to reach the disk. */
const stepBytes = 1024 * 1024

/** How long a step waits while another connection is writing, and how often. */
const againAfterMs = 20
const againMax = 200

/**
 * Room is made where there is this much more of it: a disk that is nearly full has better use for
 * what is left.
 */
const spareTimes = 64

export interface RoomOptions {
  /** The log; where it is missing nothing is done. */
  readonly file: string
  readonly sizeBytes: number
  /** Checked before each step. */
  isOver(): boolean
  /**
   * Runs a step while no connection can write the log, or returns false: anything written meanwhile
   * would be lost.
   */
  alone(step: () => void): boolean
  /** What the disk has left, in bytes. */
  freeBytes?(): number
}

/** Says when it is done. */
export function makeRoom(options: RoomOptions): Promise<void> {
  const free = options.freeBytes ?? (() => freeBytesBeside(options.file))
  return new Promise((resolve) => {
    let descriptor: number | undefined
    let again = againMax
    const end = () => {
      if (descriptor !== undefined) closeSync(descriptor)
      resolve()
    }
    /** Says whether there was anything to do. */
    const lengthen = (): boolean => {
      descriptor ??= openSync(options.file, 'r+')
      const { size } = fstatSync(descriptor)
      const missing = options.sizeBytes - size
      if (missing <= 0 || free() < missing * spareTimes) return false
      writeSync(descriptor, Buffer.alloc(Math.min(stepBytes, missing)), 0, null, size)
      return true
    }
    const step = () => {
      try {
        if (options.isOver()) return end()
        let isMore = false
        const isDone = options.alone(() => {
          isMore = lengthen()
        })
        if (!isDone && again-- > 0) setTimeout(step, againAfterMs).unref()
        else if (isMore && descriptor !== undefined) fsync(descriptor, step)
        else end()
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
