/**
 * The real etcd from PATH, for tests: on free ports of this machine, with its state in a temporary
 * directory. Also kine, which implements the part of etcd's API that kube-apiserver needs and keeps
 * its state in SQLite.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCertificate, type Signer, type Usage } from '#base/certificate.ts'
import { until } from '#base/until.fixture.ts'

export interface ServerTls {
  readonly cafile: string
  readonly certfile: string
  readonly keyfile: string
}

/** The first line of `etcd --version`; undefined if there is no etcd on PATH. */
export function etcdVersion(): string | undefined {
  const { stdout, error } = spawnSync('etcd', ['--version'], { encoding: 'utf8' })
  return error ? undefined : stdout.split('\n')[0]
}

/** Whether all threads of the process are stopped; assumed on systems that do not list threads. */
function standsStill(pid: number | undefined): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      return stat[stat.lastIndexOf(')') + 2] === 'T'
    })
  } catch {
    return true
  }
}

export const hasKine = (): boolean => !spawnSync('kine', ['--version']).error

type Program = 'etcd' | 'kine'

export class EtcdServer {
  readonly endpoint: string
  readonly #program: Program
  readonly #commands: string[]
  #directory: string
  #port: number
  #process: ChildProcess | undefined
  #output = ''

  private constructor(
    program: Program,
    port: number,
    endpoint: string,
    commandsFor: (directory: string) => string[],
  ) {
    this.#program = program
    this.#port = port
    this.#directory = mkdtempSync(join(tmpdir(), `binnacle-${program}-`))
    this.endpoint = endpoint
    this.#commands = commandsFor(this.#directory)
  }

  static async start(tls?: ServerTls, flags: string[] = []): Promise<EtcdServer> {
    const port = await freePort()
    const endpoint = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
    const peer = `http://127.0.0.1:${await freePort()}`
    const server = new EtcdServer('etcd', port, endpoint, (directory) => [
      `--data-dir=${directory}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      '--heartbeat-interval=20',
      '--election-timeout=200',
      ...(tls ? tlsFlags(tls) : []),
      ...flags,
    ])
    await server.resume()
    return server
  }

  static async startKine(): Promise<EtcdServer> {
    const port = await freePort()
    const server = new EtcdServer('kine', port, `http://127.0.0.1:${port}`, (directory) => [
      `--listen-address=127.0.0.1:${port}`,
      `--endpoint=sqlite://${directory}/state.db?_journal=WAL&cache=shared&_busy_timeout=30000&_txlock=immediate`,
      '--metrics-bind-address=0',
    ])
    await server.resume()
    return server
  }

  /** Starts etcd, on its existing state if there is one. */
  async resume(): Promise<void> {
    const child = spawn(this.#program, this.#commands, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        this.#output = (this.#output + data).slice(-4000)
      })
    }
    for (let i = 0; i < 500; i++) {
      if (child.exitCode !== null)
        throw new Error(`${this.#program} did not start: ${this.#output}`)
      if (await listens(this.#port)) return
      await sleep(20)
    }
    throw new Error(`${this.#program} did not listen: ${this.#output}`)
  }

  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Stops the process without ending it. A thread may still finish a response before it stops. */
  async freeze(): Promise<void> {
    this.#process?.kill('SIGSTOP')
    await until('etcd to stand still', () => standsStill(this.#process?.pid))
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Copies its data for `setBack`. It must be stopped. */
  copy(): void {
    cpSync(this.#directory, `${this.#directory}-copy`, { recursive: true })
  }

  /** Restores the copy, as an operator restores a backup. */
  setBack(): void {
    rmSync(this.#directory, { recursive: true })
    cpSync(`${this.#directory}-copy`, this.#directory, { recursive: true })
  }

  async dispose(): Promise<void> {
    await this.kill()
    for (const directory of [this.#directory, `${this.#directory}-copy`])
      rmSync(directory, { recursive: true, force: true })
  }
}

function tlsFlags(tls: ServerTls): string[] {
  return [
    `--cert-file=${tls.certfile}`,
    `--key-file=${tls.keyfile}`,
    `--trusted-ca-file=${tls.cafile}`,
    '--client-cert-auth',
  ]
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (does: boolean) => {
      socket.destroy()
      resolve(does)
    }
    socket.on('connect', () => answer(true))
    socket.on('error', () => answer(false))
  })
}

/** An authority and one certificate, for the server and its clients. */
export function writeCertificates(directory: string): ServerTls {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ca = issue('authority', authority.publicKey, ['authority'], authority)
  const certificate = issue('etcd', own.publicKey, ['server', 'client'], {
    privateKey: authority.privateKey,
    certificate: new X509Certificate(ca),
  })
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  return {
    cafile: file('ca.crt', ca),
    certfile: file('etcd.crt', certificate),
    keyfile: file('etcd.key', own.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

function issue(commonName: string, publicKey: KeyObject, usages: Usage[], signer: Signer): string {
  const now = Date.now()
  const request = {
    subject: { commonName },
    publicKey,
    usages,
    addresses: [Uint8Array.of(127, 0, 0, 1)],
    notBeforeMs: now - 60_000,
    notAfterMs: now + 3_600_000,
    serial: randomBytes(16),
  }
  return issueCertificate(request, signer)
}
