/**
 * What a hundred thousand pods of 2 KB cost: resident memory when idle, with the pods, while all of
 * them are listed, and after. Prints one line each; exits with 1 where the pods need more than 600
 * MiB or a list doubles what they need. Run: node benchmarks/memory-100k.ts [pods]
 */
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../test/running-server.ts'

const podsCount = Number(process.argv[2] ?? 100_000)
const podBytes = 2048
const atOnce = 64
const limitMiB = 600

const server = await startServer(['--storage-backend=sqlite'])
const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
const session = http2.connect(server.url, {
  ca: pem('ca.crt'),
  cert: pem('admin.crt'),
  key: pem('admin.key'),
})

function ask(
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const stream = session.request(
      { ':method': method, ':path': path, ...type },
      { endStream: body === undefined },
    )
    let status = 0
    let bytes = 0
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    stream.on('error', reject)
    stream.on('end', () => resolve({ status, bytes }))
    if (body !== undefined) stream.end(body)
  })
}

const residentMiB = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
const say = (what: string, value: string) => console.log(`${what.padEnd(34)} ${value}`)
const show = (what: string) => {
  const value = residentMiB()
  say(what, `${value.toFixed(0)} MiB`)
  return value
}

const podOf = (i: number) => {
  const pod = {
    metadata: {
      name: `pod-${String(i).padStart(6, '0')}`,
      labels: { app: `app-${i % 500}` },
      annotations: { fill: '' },
    },
    spec: {
      containers: [{ name: 'main', image: 'registry.example/app:1.0' }],
      automountServiceAccountToken: false,
    },
  }
  const missing = podBytes - 1450 - JSON.stringify(pod).length
  pod.metadata.annotations.fill = 'x'.repeat(Math.max(0, missing))
  return JSON.stringify(pod)
}

// Pods wait for the account they run as.
const account = '/api/v1/namespaces/default/serviceaccounts/default'
while ((await ask('GET', account)).status !== 200) await sleep(50)
show('idle')
const began = performance.now()
let next = 0
async function writer(): Promise<void> {
  while (next < podsCount) {
    const { status } = await ask('POST', '/api/v1/namespaces/default/pods', podOf(next++))
    if (status !== 201) throw new Error(`a pod was answered with ${status}`)
  }
}
await Promise.all(Array.from({ length: atOnce }, writer))
const seconds = (performance.now() - began) / 1000
say(
  'pods written',
  `${podsCount} in ${seconds.toFixed(1)} s, ${(podsCount / seconds).toFixed(0)}/s`,
)
show('after writing')
await sleep(10_000)
const settled = show('ten seconds later')
let most = 0
const watching = setInterval(() => {
  most = Math.max(most, residentMiB())
}, 20)
const listed = performance.now()
const { bytes } = await ask('GET', '/api/v1/pods')
say(
  'a list of all',
  `${(bytes / 2 ** 20).toFixed(0)} MiB in ${((performance.now() - listed) / 1000).toFixed(1)} s`,
)
clearInterval(watching)
say('most while listing', `${most.toFixed(0)} MiB`)
await sleep(5000)
show('five seconds later')
session.destroy()
await server.stop()
const tooMuch = settled > limitMiB || most > 2 * settled
if (tooMuch) console.log(`more than wanted: at most ${limitMiB} MiB, and no list that doubles it`)
process.exitCode = tooMuch ? 1 : 0
