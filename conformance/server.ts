/**
 * A server for one replay: the release of the recording, memory store, and a token file with the
 * three identities the recordings speak as. Everything else is left at its default, because that is
 * what users get.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../test/running-server.ts'

/** Whom the recordings speak as, and the tokens that make them so. */
export const tokens = { admin: 'admin-token', alice: 'alice-token', bob: 'bob-token' }
const tokenFile = `admin-token,admin,admin,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid,"dev,ops"
`

export interface ReplayServer {
  readonly url: string
  stop(): Promise<void>
}

export async function startForReplay(
  release: string,
  flags: readonly string[],
): Promise<ReplayServer> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-conformance-'))
  const path = join(directory, 'tokens.csv')
  writeFileSync(path, tokenFile, { mode: 0o600 })
  const clean = () => rmSync(directory, { recursive: true, force: true })
  try {
    const server = await startServer([
      `--token-auth-file=${path}`,
      `--emulated-version=${release}`,
      // The servers that were recorded ran without controllers.
      '--controllers=-*',
      ...flags,
    ])
    const stop = async () => {
      await server.stop()
      clean()
    }
    return { url: server.url, stop }
  } catch (error) {
    clean()
    throw error
  }
}
