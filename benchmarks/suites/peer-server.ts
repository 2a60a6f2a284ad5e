/**
 * Starts an etcd and a kube-apiserver as envtest does, prints one line of JSON with a kubeconfig,
 * and ends both when its standard input ends: `node peer-server.ts DIR`, where DIR has the two
 * programs.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const programs = process.argv[2] ?? '.'
const directory = mkdtempSync(join(tmpdir(), 'peer-server-'))
const running: ChildProcess[] = []
const token = 'admin-of-the-peer'
const readyMsMax = 60_000

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  return typeof address === 'object' && address !== null ? address.port : 0
}

function run(program: string, flags: Record<string, string>): void {
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(join(programs, program), args, { stdio: 'ignore' })
  running.push(child)
  child.on('exit', (code) => {
    if (isEnding) return
    console.error(`${program} ended with status ${code}`)
    end()
  })
}

const status = (url: string) =>
  new Promise<number>((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    get(url, { headers, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).on('error', () => resolve(0))
  })

let isEnding = false

function end(): void {
  isEnding = true
  for (const child of running) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

const [client, peers, secure] = await Promise.all([freePort(), freePort(), freePort()])
run('etcd', {
  'data-dir': join(directory, 'etcd'),
  'listen-client-urls': `http://127.0.0.1:${client}`,
  'advertise-client-urls': `http://127.0.0.1:${client}`,
  'listen-peer-urls': `http://127.0.0.1:${peers}`,
  'unsafe-no-fsync': 'true',
})
const key = join(directory, 'sa.key')
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
writeFileSync(key, privateKey.export({ type: 'sec1', format: 'pem' }))
const tokens = join(directory, 'tokens.csv')
writeFileSync(tokens, `${token},admin,admin,"system:masters"\n`)
run('kube-apiserver', {
  'etcd-servers': `http://127.0.0.1:${client}`,
  'secure-port': `${secure}`,
  'bind-address': '127.0.0.1',
  'cert-dir': join(directory, 'certificates'),
  'service-cluster-ip-range': '10.0.0.0/24',
  'service-account-issuer': `https://127.0.0.1:${secure}/`,
  'service-account-key-file': key,
  'service-account-signing-key-file': key,
  'token-auth-file': tokens,
  'authorization-mode': 'RBAC',
  'disable-admission-plugins': 'ServiceAccount',
})
process.stdin.on('end', end).resume()
const url = `https://127.0.0.1:${secure}`
const deadline = performance.now() + readyMsMax
while ((await status(`${url}/readyz`)) !== 200) {
  if (performance.now() > deadline) {
    console.error('kube-apiserver does not become ready')
    end()
  }
  await sleep(25)
}
const name = 'peer'
const cluster = { server: url, 'insecure-skip-tls-verify': true }
const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name, cluster }],
  users: [{ name, user: { token } }],
  contexts: [{ name, context: { cluster: name, user: name } }],
  'current-context': name,
})
console.log(JSON.stringify({ url, token, kubeconfig }))
