/**
 * A server of this checkout for one replay: memory store, a directory of its own, a free port, and the three identities the
 * recordings speak as. Everything else is left at its default, because that is what users get.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** Whom the recordings speak as, and the tokens that make them so. */
export const tokens = { admin: 'admin-token', alice: 'alice-token', bob: 'bob-token' }
const tokenFile = `admin-token,admin,admin,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid,"dev,ops"
`

/** A start takes well under a second; a machine that is busy with a replay of its own gets more. */
const readyTimeoutMs = 30_000

export interface RunningServer {
  readonly url: string
  stop(): Promise<void>
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening))
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  return port
}

export async function startServer(
  release: string,
  flags: readonly string[],
): Promise<RunningServer> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-conformance-'))
  writeFileSync(join(directory, 'tokens.csv'), tokenFile, { mode: 0o600 })
  const port = await freePort()
  const args = [
    join(root, 'bin', 'binnacle.js'),
    `--secure-port=${port}`,
    `--data-dir=${join(directory, 'data')}`,
    '--storage-backend=memory',
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    `--emulated-version=${release}`,
    ...flags,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = async () => {
    await ended(child)
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await ready(child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `https://127.0.0.1:${port}`, stop }
}

/** Resolves when the server says that it is ready; rejects with what it said when it ends before. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((done, failed) => {
    let said = ''
    const timer = setTimeout(() => failed(new Error(`not ready: ${said}`)), readyTimeoutMs)
    const hear = (chunk: Buffer) => {
      said = (said + chunk).slice(-20_000)
      if (!/is ready on https:/.test(said)) return
      clearTimeout(timer)
      done()
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('exit', (code) => {
      clearTimeout(timer)
      failed(new Error(`the server ended with ${code}: ${said.trim()}`))
    })
  })
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((exited) => child.once('exit', exited))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await gone
  clearTimeout(timer)
}
