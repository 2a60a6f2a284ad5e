/**
 * A small kubelet for tests: containers are directories of this machine, commands run in them, logs
 * are set by the test. It listens on loopback, requires the API server's certificate, and remembers
 * its requests.
 */
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { authority, client, type Made, serving } from '../../src/access/certificates.suite.ts'
import { SpdyServer, type SpdyStream } from './spdy.ts'
import { acceptOf, WebSocketServer } from './websocket.ts'

export interface Kubelet {
  readonly port: number
  readonly ca: Made
  /** What the API server shows it. */
  readonly apiServer: Made
  /** Requests so far: method, path and query, and the user of the certificate. */
  readonly asked: {
    readonly url: string
    readonly by: string
    readonly headers: IncomingMessage['headers']
  }[]
  /** Lines that logs answer with; following ones get `later` too. */
  lines: string[]
  later: string[]
  stop(): Promise<void>
}

/** Where a command's bytes come from and go to. */
interface Streams {
  stdin: { listen(data: (bytes: Buffer) => void, end: () => void): void } | undefined
  stdout(bytes: Buffer): void
  stderr(bytes: Buffer): void
  /** The end: the status, then no more. */
  done(status: object): void
}

export async function startKubelet(directory: string): Promise<Kubelet> {
  const ca = await authority('kubelet-authority')
  const own = await serving(ca)
  const apiServer = await client(ca, 'kube-apiserver', ['system:masters'])
  const kubelet = {
    ca,
    apiServer,
    asked: [] as Kubelet['asked'],
    lines: ['one', 'two', 'three'],
    later: ['four'],
  }
  const sockets = new Set<Duplex>()
  const server: Server = createServer(
    { cert: own.pem, key: own.keyPem, ca: ca.pem, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      remember(request)
      answer(kubelet, request, response)
    },
  )
  const remember = (request: IncomingMessage) => {
    const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject
    kubelet.asked.push({ url: request.url as string, by: String(CN), headers: request.headers })
  }
  server.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request, socket, head) => {
    remember(request)
    socket.on('error', () => {})
    upgrade(request, socket, head, directory)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return Object.assign(kubelet, {
    port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  })
}

function answer(
  kubelet: Pick<Kubelet, 'lines' | 'later'>,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, searchParams } = new URL(url, 'https://kubelet')
  if (pathname === '/redirect') return void response.writeHead(302, { location: '/healthz' }).end()
  if (pathname === '/elsewhere')
    return void response.writeHead(302, { location: 'https://example.com/a' }).end()
  if (pathname === '/page') {
    response.writeHead(200, { 'content-type': 'text/html' })
    return void response.end('<html><a href="/healthz">ok</a><img src=relative.png></html>')
  }
  if (pathname === '/healthz') return void response.end('ok')
  if (!pathname.startsWith('/containerLogs/'))
    return void response.writeHead(404).end('404 page not found\n')
  if (pathname.endsWith('/broken'))
    return void response.writeHead(400).end('container is not there')
  const tail = searchParams.get('tailLines')
  const lines = tail === null ? kubelet.lines : kubelet.lines.slice(-Number(tail))
  for (const line of lines) response.write(`${line}\n`)
  if (searchParams.get('follow') !== 'true') return void response.end()
  setTimeout(() => response.end(kubelet.later.map((line) => `${line}\n`).join('')), 200)
}

function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, directory: string): void {
  const { pathname, searchParams } = new URL(request.url as string, 'https://kubelet')
  const forwarding = pathname.startsWith('/portForward/')
  // The program that runs in every container echoes its input.
  const command = pathname.startsWith('/attach/') ? ['cat'] : searchParams.getAll('command')
  if (!forwarding && command.length === 0) {
    const text = 'you must specify at least 1 command for the container'
    const head = `HTTP/1.1 400 Bad Request\r\ncontent-length: ${text.length}\r\n`
    return void socket.end(`${head}connection: close\r\n\r\n${text}`)
  }
  const run = (streams: Streams) => runCommand(command, directory, streams)
  if (request.headers.upgrade?.toLowerCase() === 'websocket') {
    const wanted = String(request.headers['sec-websocket-protocol'] ?? '').split(/, */)
    const protocol = wanted.find((name) => /^v[45]\.channel\.k8s\.io$/.test(name))
    if (protocol === undefined) {
      return void socket.end(
        'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
      )
    }
    switching(socket, 'websocket', {
      'Sec-WebSocket-Accept': acceptOf(String(request.headers['sec-websocket-key'])),
      'Sec-WebSocket-Protocol': protocol,
    })
    execByWebSocket(socket, head, searchParams.has('input'), run)
    return
  }
  const protocol = forwarding ? 'portforward.k8s.io' : 'v4.channel.k8s.io'
  switching(socket, 'SPDY/3.1', { 'X-Stream-Protocol-Version': protocol })
  if (forwarding) forwardBySpdy(socket, head)
  else execBySpdy(socket, head, searchParams, run)
}

function switching(socket: Duplex, protocol: string, headers: Record<string, string>): void {
  const lines = Object.entries({ Connection: 'Upgrade', Upgrade: protocol, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
}

function runCommand([command, ...args]: string[], cwd: string, streams: Streams): void {
  const child = spawn(command, args, { cwd, stdio: 'pipe' })
  child.on('error', (error) => streams.done({ status: 'Failure', message: error.message }))
  child.stdin.on('error', () => {})
  child.stdout.on('data', (bytes) => streams.stdout(bytes))
  child.stderr.on('data', (bytes) => streams.stderr(bytes))
  if (streams.stdin === undefined) child.stdin.end()
  else
    streams.stdin.listen(
      (bytes) => void child.stdin.write(bytes),
      () => void child.stdin.end(),
    )
  child.on('close', (code) => {
    if (code === 0) return streams.done({ metadata: {}, status: 'Success' })
    streams.done({
      metadata: {},
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: `command terminated with non-zero exit code: ${code}`,
      details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
    })
  })
}

function execBySpdy(
  socket: Duplex,
  head: Buffer,
  asked: URLSearchParams,
  run: (streams: Streams) => void,
): void {
  const wanted = new Set(['error'])
  if (asked.has('input')) wanted.add('stdin')
  if (asked.has('output')) wanted.add('stdout')
  if (asked.has('error')) wanted.add('stderr')
  const streams = new Map<string, SpdyStream>()
  const spdy = new SpdyServer(socket, head, (stream) => {
    streams.set(stream.headers.streamtype, stream)
    wanted.delete(stream.headers.streamtype)
    if (wanted.size > 0) return
    wanted.add('running')
    run({
      stdin: streams.get('stdin'),
      stdout: (bytes) => streams.get('stdout')?.write(bytes),
      stderr: (bytes) => streams.get('stderr')?.write(bytes),
      done(status) {
        streams.get('error')?.write(JSON.stringify(status))
        for (const one of streams.values()) one.end()
        spdy.close()
      },
    })
  })
}

function execByWebSocket(
  socket: Duplex,
  head: Buffer,
  input: boolean,
  run: (streams: Streams) => void,
): void {
  let data: (bytes: Buffer) => void = () => {}
  let end = () => {}
  const early: Buffer[] = []
  let ended = false
  const connection = new WebSocketServer(socket, head, (channel, bytes) => {
    if (channel === 0) {
      early.push(bytes)
      data(bytes)
    } else if (channel === 255 && bytes[0] === 0) {
      ended = true
      end()
    }
  })
  run({
    stdin: input
      ? {
          listen(onData, onEnd) {
            for (const bytes of early) onData(bytes)
            data = onData
            end = onEnd
            if (ended) onEnd()
          },
        }
      : undefined,
    stdout: (bytes) => connection.send(1, bytes),
    stderr: (bytes) => connection.send(2, bytes),
    done(status) {
      connection.send(3, Buffer.from(JSON.stringify(status)))
      connection.close()
    },
  })
}

function forwardBySpdy(socket: Duplex, head: Buffer): void {
  new SpdyServer(socket, head, (stream) => {
    if (stream.headers.streamtype !== 'data') return
    const target = connect(Number(stream.headers.port), '127.0.0.1')
    target.on('error', () => stream.end())
    target.on('data', (bytes) => stream.write(bytes))
    target.on('end', () => stream.end())
    stream.listen(
      (bytes) => void target.write(bytes),
      () => void target.end(),
    )
  })
}
