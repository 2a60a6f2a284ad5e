/**
 * Reserves space in the write-ahead log. When a write enlarges a file, the file system must also
 * update its metadata, which takes longer than the write itself. Overwriting reserved space avoids
 * that. The reserved space contains zeros, at which SQLite stops reading. Written frames are not
 * changed.
 */
import { closeSync, fstatSync, fsync, openSync, statfsSync, writeSync } from 'node:fs'

/** Small steps, because a concurrent write waits until a step is on disk. */
const stepBytes = 1024 * 1024

/**
 * The pause before a step is retried while another connection writes, and the number of retries.
 */
const againAfterMs = 20
const againMax = 200

/**
 * Space is reserved only if the disk has this many times more free, because a nearly full disk
 * needs it for writes.
 */
const spareTimes = 64

export interface RoomOptions {
  /** The log's file; if it is missing, nothing is done. */
  readonly file: string
  readonly sizeBytes: number
  /** Checked before each step. */
  isOver(): boolean
  /**
   * Runs a step while no connection can write to the log, or returns false. A concurrent write
   * would be overwritten.
   */
  alone(step: () => void): boolean
  /** The free bytes of the disk. */
  freeBytes?(): number
}

/** Resolves when it is done. */
export function makeRoom(options: RoomOptions): Promise<void> {
  const free = options.freeBytes ?? (() => freeBytesBeside(options.file))
  return new Promise((resolve) => {
    let descriptor: number | undefined
    let again = againMax
    const end = () => {
      if (descriptor !== undefined) closeSync(descriptor)
      resolve()
    }
    /** Returns whether space was added. */
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
        // Without reserved space, writes only take longer.
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
