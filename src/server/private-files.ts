/**
 * Writes files that only their owner can read. Each is written under a temporary name and renamed,
 * so a crash leaves the old or the new file, never a part of one. The new file never has a wider
 * mode.
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

/**
 * Creates a directory, and its parents, that only the owner can access. An existing directory keeps
 * its mode.
 */
export function ensurePrivateDirectory(path: string): void {
  try {
    makeDirectory(path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CannotUseFile(path, 'is a file, not a directory')
    throw new CannotUseFile(path, `cannot be created as a directory (${reasonOf(error)})`)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

const temporaryPath = (path: string) => `${path}.${process.pid}.new`

function writeTemporary(temporary: string, text: string, synced: boolean): void {
  // Always create a new file. A file that another process placed here could have a wider mode, or
  // be a symbolic link.
  removeIfThere(temporary)
  const handle = openSync(temporary, 'wx', 0o600)
  try {
    // Write all bytes: a full disk may accept only the first part without an error.
    writeFileSync(handle, text)
    if (synced) fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Writes several files. Each is renamed into place only after all are on disk, because a key is
 * useless without its certificate.
 */
export function writePrivateFiles(texts: ReadonlyMap<string, string>, synced = true): void {
  let writing = ''
  try {
    for (const [path, text] of texts) writeTemporary(temporaryPath((writing = path)), text, synced)
    for (const path of texts.keys()) renameSync(temporaryPath((writing = path)), path)
  } catch (error) {
    for (const path of texts.keys()) rmSync(temporaryPath(path), { force: true, recursive: true })
    throw new CannotUseFile(writing, `cannot be written (${reasonOf(error)})`)
  }
}

/**
 * Writes files without waiting for the disk. A file that can be made again may be lost in a crash.
 */
export const writeUnsyncedFiles = (texts: ReadonlyMap<string, string>): void =>
  writePrivateFiles(texts, false)

export const writePrivateFile = (path: string, text: string): void =>
  writePrivateFiles(new Map([[path, text]]))

/** The text of a file. Undefined if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new CannotUseFile(path, `cannot be read (${reasonOf(error)})`)
  }
}

/**
 * A file cannot be used or written. It is not changed, because the operator may want to repair it.
 */
export class CannotUseFile extends Error {
  override name = 'CannotUseFile'
  constructor(path: string, why: string) {
    super(`${path} ${why}`)
  }
}
