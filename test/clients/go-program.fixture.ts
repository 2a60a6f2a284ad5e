/**
 * Programs in Go that tests run: built from test/clients/go, where `go` and the modules they need
 * are at hand.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const go = process.env.BINNACLE_GO ?? 'go'

/** Why there is no program, if there is none: nothing is fetched for it. */
export function buildGo(packagePath: string, program: string): string | undefined {
  const built = spawnSync(go, ['build', '-o', program, packagePath], {
    cwd: join(import.meta.dirname, 'go'),
    env: { ...process.env, GOPROXY: 'off', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' },
    encoding: 'utf8',
  })
  if (built.error !== undefined) return `no ${go} on the PATH`
  if (built.status === 0) return undefined
  if (
    /module lookup disabled|cannot find module|requires go >=|go\.mod requires/.test(built.stderr)
  )
    return `${go} lacks what test/clients/go/go.mod names`
  throw new Error(built.stderr)
}
