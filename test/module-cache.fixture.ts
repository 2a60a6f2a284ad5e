/** Go's module cache, where this machine has one: some tests compare with modules in it. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

function cacheFolder(): string | undefined {
  try {
    return execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

const cache = cacheFolder()

/** The folder of `k8s.io/api@v0.37.0`, or one inside it; undefined where it is not there. */
export function moduleFolder(module: string, ...inside: readonly string[]): string | undefined {
  const folder = join(cache ?? '', module, ...inside)
  return cache !== undefined && existsSync(folder) ? folder : undefined
}
