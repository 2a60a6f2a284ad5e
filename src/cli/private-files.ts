/**
 * Files that only their owner may read, written so that a crash leaves the old one or the new one and never half of
 * one. A file that is there is never widened and never deleted.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { makeDirectory } from '#storage/make-directory.ts'

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** `EACCES: permission denied` */
function reasonOf(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException
  if (code === undefined) return String(error)
  return errno === undefined ? code : `${code}: ${getSystemErrorMessage(errno)}`
}

/** Makes a directory that only its owner may enter, and those it lies in. One that is there keeps its mode. */
export function ensurePrivateDirectory(path: string): void {
  try {
    makeDirectory(path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CannotUseFile(path, 'is a file and no directory')
    throw new CannotUseFile(path, `cannot be made a directory (${reasonOf(error)})`)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

export function writePrivateFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`
  try {
    // Made here and now: what somebody put there in time would keep its mode, or lead elsewhere.
    removeIfThere(fresh)
    const handle = openSync(fresh, 'wx', 0o600)
    try {
      // All of it: a disk that fills up takes the beginning without a word.
      writeFileSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true, recursive: true })
    throw new CannotUseFile(path, `cannot be written (${reasonOf(error)})`)
  }
}

/** The text of a file; undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new CannotUseFile(path, `cannot be read (${reasonOf(error)})`)
  }
}

/** A file that cannot be used or written. What is there is left as it is: someone may want to mend it. */
export class CannotUseFile extends Error {
  override name = 'CannotUseFile'
  constructor(path: string, why: string) {
    super(`${path} ${why}`)
  }
}
