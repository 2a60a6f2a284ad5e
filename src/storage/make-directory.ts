/**
 * A directory and those it lies in, made one after the other from the first that is missing. Node
 * does all at once with `recursive`, and never returns where the system says that a directory
 * inside an existing one cannot be (/proc, for one).
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Only the owner may enter what is made; what is there keeps its mode. Throws what the system says.
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
