/**
 * A server of this checkout as a process of its own, for tests that must see it start, stop, die
 * and come back. It has a free port, a directory of its own unless one is given, and a memory store
 * unless the flags name another. It always ends with the test run.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const binnacle = resolve(import.meta.dirname, '../bin/binnacle.js')

/** A start takes well under a second; a machine that is busy with other things gets more. */
const readyTimeoutMs = 120_000
const endTimeoutMs = 120_000

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers?: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is the test's to know
  readonly body: any
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  readonly dataDir: string
  readonly pid: number
  /** Everything it printed so far. */
  said(): string
  /** As the administrator, by client certificate. A body that is bytes is sent as it is. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** As the administrator, bytes as they are; an answer that is no success is thrown. */
  send(
    method: string,
    path: string,
    body: Buffer | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Buffer>
  /** As the administrator; the answer is not looked into. */
  raw(
    method: string,
    path: string,
  ): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }>
  /** As the administrator; the response is passed on as it comes, until it is left. */
  follow(
    path: string,
    headers: Readonly<Record<string, string>>,
    hear: (text: string) => void,
  ): () => void
  /** SIGTERM unless another signal is named; resolves when the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening))
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  return port
}

// A test that fails leaves its server running: nothing waits for those, and they end with the
// test's process.
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

interface Program {
  readonly child: ChildProcess
  readonly gone: Promise<Ended>
  /** Waits until it is gone, and helps when that takes too long. */
  ended(): Promise<Ended>
  said(): string
}

/** The command with some arguments, and what comes of it. */
export function run(args: readonly string[]): Program {
  const child = spawn(process.execPath, [binnacle, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let heard = ''
  child.stdout?.on('data', (chunk) => (heard += chunk))
  child.stderr?.on('data', (chunk) => (heard += chunk))
  const gone = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, said: heard })
    })
  })
  child.unref()
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref()
  const ended = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), endTimeoutMs)
    const how = await gone
    clearTimeout(timer)
    return how
  }
  return { child, gone, ended, said: () => heard }
}

type Administrator = Pick<RunningServer, 'ask' | 'send' | 'raw' | 'follow'>

/** Requests with the administrator's certificate. It is read with the first request. */
function administrator(port: number, certDir: string): Administrator & { disconnect(): void } {
  let agent: Agent | undefined
  const pem = (name: string) => readFileSync(join(certDir, name))
  const connected = (): Agent => {
    agent ??= new Agent({
      keepAlive: true,
      ca: pem('ca.crt'),
      cert: pem('admin.crt'),
      key: pem('admin.key'),
    })
    return agent
  }
  return {
    disconnect: () => agent?.destroy(),
    ask(method, path, body, headers = {}) {
      const isText = body !== undefined
      return answerOf(
        { method, path, port, agent: connected() },
        Buffer.isBuffer(body) ? body : isText ? Buffer.from(JSON.stringify(body)) : undefined,
        isText ? { 'content-type': 'application/json', ...headers } : headers,
      )
    },
    async send(method, path, body, headers) {
      const target = { method, path, port, agent: connected() }
      const { status, text, bytes } = await answerOf(target, body, headers)
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
      return bytes
    },
    async raw(method, path) {
      const target = { method, path, port, agent: connected() }
      const { status, headers = {}, bytes } = await answerOf(target, undefined, {}, false)
      return { status, headers, bytes }
    },
    follow(path, headers, hear) {
      const call = request(
        { host: '127.0.0.1', port, path, headers, agent: connected() },
        (response) => {
          response.setEncoding('utf8')
          response.on('data', hear)
          response.on('error', () => {})
        },
      )
      call.on('error', () => {})
      call.end()
      return () => call.destroy()
    },
  }
}

export async function startServer(
  flags: readonly string[] = [],
  keptDir?: string,
): Promise<RunningServer> {
  const scratch = keptDir === undefined ? mkdtempSync(join(tmpdir(), 'binnacle-test-')) : undefined
  const dataDir = keptDir ?? join(scratch as string, 'data')
  const given = flags.find((flag) => flag.startsWith('--secure-port='))
  const port = given === undefined ? await freePort() : Number(given.split('=')[1])
  const store = flags.some((flag) => /^--(storage-backend|etcd-servers)\b/.test(flag))
    ? []
    : ['--storage-backend=memory']
  const at = given === undefined ? [`--secure-port=${port}`] : []
  const program = run([...at, `--data-dir=${dataDir}`, ...store, ...flags])
  const certDir = flags.find((flag) => flag.startsWith('--cert-dir='))?.slice('--cert-dir='.length)
  const { disconnect, ...client } = administrator(port, certDir ?? join(dataDir, 'pki'))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    program.child.kill(signal)
    const ended = await program.ended()
    disconnect()
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
    return ended
  }
  await ready(program).catch(async (error) => {
    await stop('SIGKILL')
    throw error
  })
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    dataDir,
    pid: program.child.pid as number,
    said: program.said,
    ...client,
    stop,
  }
}

/** Resolves when the server is ready; rejects with its output if it ends before. */
async function ready(program: Program): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not ready: ${program.said()}`)), readyTimeoutMs)
  })
  const told = new Promise<void>((resolve) => {
    const look = () => {
      // The last of the lines that a server prints when it is ready; with JSON logs it is a line of
      // the log.
      if (/^\s+export KUBECONFIG=.*\n|"msg":"ready".*\n/m.test(program.said())) resolve()
    }
    for (const stream of [program.child.stdout, program.child.stderr]) stream?.on('data', look)
  })
  const gone = program.gone.then(({ code, said }) => {
    throw new Error(`the server ended with ${code}: ${said.trim()}`)
  })
  try {
    await Promise.race([told, late, gone])
  } finally {
    clearTimeout(timer)
    gone.catch(() => {})
  }
}

function answerOf(
  target: { method: string; path: string; port: number; agent: Agent },
  body: Buffer | undefined,
  headers: Readonly<Record<string, string>>,
  reads = true,
): Promise<Answer & { bytes: Buffer }> {
  // Node sends the body of a DELETE without its length by default.
  const sized = body === undefined ? headers : { ...headers, 'content-length': `${body.length}` }
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', headers: sized, ...target }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString('utf8')
        // A watch is many texts, not one.
        const isWatch = /[?&]watch=|\/watch\//.test(target.path)
        const isJson = reads && !isWatch && /json/.test(response.headers['content-type'] ?? '')
        resolve({
          status: response.statusCode ?? 0,
          text,
          bytes,
          headers: response.headers,
          body: isJson && text !== '' ? JSON.parse(text) : undefined,
        })
      })
    })
    call.on('error', reject)
    call.end(body)
  })
}
