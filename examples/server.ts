/** A Binnacle for one file of tests: in memory, on a port of its own, gone afterwards. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where it is installed as a package, this is the command `binnacle`. */
const binnacle = join(import.meta.dirname, '../bin/binnacle.js')

export interface Server {
  readonly kubeconfig: string
  stop(): Promise<void>
}

export async function startServer(): Promise<Server> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-example-'))
  const flags = ['--storage-backend=memory', `--secure-port=${port}`, `--data-dir=${dataDir}`]
  const child = spawn(process.execPath, [binnacle, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill())
  let said = ''
  for await (const piece of child.stdout) {
    said += piece
    if (said.includes('export KUBECONFIG=')) break
  }
  const kubeconfig = /export KUBECONFIG=(.+)/.exec(said)?.[1]
  if (kubeconfig === undefined) throw new Error(`the server did not start: ${said}`)
  return {
    kubeconfig,
    stop: async () => {
      child.kill()
      await once(child, 'exit')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
