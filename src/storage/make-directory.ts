/**
 * Creates a directory and its missing parents one by one. Node's `recursive` option never returns
 * if the system refuses to create a directory in an existing one (for example in /proc).
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Only the owner may access new directories; existing ones keep their mode. Throws the system's
 * error.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = []
  let at = resolve(path)
  while (!existsSync(at)) {
    missing.push(at)
    at = dirname(at)
  }
  for (const directory of missing.reverse()) mkdirSync(directory, { mode: 0o700 })
  if (statSync(path).isDirectory()) return
  throw Object.assign(new Error(`EEXIST: file already exists, mkdir '${path}'`), { code: 'EEXIST' })
}
