/**
 * The artefacts of a release, made and run. These are the single executable without a PATH, the
 * image unpacked into its root file system, checksums and the bill of materials.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { binaryName } from '../tools/release/binary.ts'
import { hostTarget } from '../tools/release/node-executable.ts'
import { release } from '../tools/release/release.ts'
import { freePort } from './running-server.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-artefacts-'))
const dist = join(place, 'dist')
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const binary = join(dist, binaryName(version, hostTarget))
const running = new Set<ChildProcess>()
let files: string[]

before(async () => {
  // npm runs scripts by the Node on PATH.
  process.env['PATH'] = `${dirname(process.execPath)}:${process.env['PATH']}`
  delete process.env['NODE_TEST_CONTEXT']
  files = await release(dist, [hostTarget])
})
after(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(place, { recursive: true, force: true })
})

/** Starts a program that serves, requests /readyz, and ends it. Returns its output. */
async function serveOnce(command: string, args: string[], port: number): Promise<string> {
  const child = spawn(command, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const ended = new Promise((done) => child.once('close', done))
  await until('the server', () => said.includes('export KUBECONFIG=') || child.exitCode !== null)
  assert.equal(child.exitCode, null, said)
  const ready = ['-sk', '--max-time', '10', `https://127.0.0.1:${port}/readyz`]
  assert.equal(spawnSync('curl', ready, { encoding: 'utf8' }).stdout, 'ok')
  const health = spawnSync(
    command,
    [...args.filter((arg) => !arg.startsWith('--')), 'health', `--secure-port=${port}`],
    { env: {}, encoding: 'utf8' },
  )
  assert.equal(health.stdout, 'ok\n', health.stderr)
  child.kill('SIGTERM')
  await ended
  return said
}

test('every artefact has its checksum', () => {
  assert.deepEqual(
    files.map((name) => name.replace(version, 'V').replace(hostTarget, 'T')),
    [
      'alerts.yaml',
      'binnacle-V-T',
      'binnacle-V-T.oci.tar',
      'binnacle-V.cdx.json',
      'binnacle-V.tgz',
      'binnacle-chart-V.tgz',
      'binnacle.service',
      'binnacle.yaml',
      'grafana-dashboard.json',
      'SHA256SUMS',
    ],
  )
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: dist })
})

test('the bill of materials names every package that is shipped', () => {
  const bom = JSON.parse(readFileSync(join(dist, `binnacle-${version}.cdx.json`), 'utf8'))
  const names = bom.components.map(({ name }: { name: string }) => name)
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const name of [...Object.keys(manifest.dependencies), 'node'])
    assert.ok(names.includes(name), name)
  for (const name of ['typescript', 'esbuild']) assert.ok(!names.includes(name), name)
})

test('the executable is below 130 MB and serves with an empty PATH', async () => {
  assert.ok(statSync(binary).size < 130e6)
  const port = await freePort()
  const said = await serveOnce(
    binary,
    [`--secure-port=${port}`, `--data-dir=${join(place, 'data')}`],
    port,
  )
  assert.match(said, /^Binnacle is ready on https:\/\/127\.0\.0\.1:/m)
})

/** Unpacks the layers of the image as an engine does, after a look at every digest. */
function unpackImage(): { root: string; config: Record<string, unknown> } {
  const layout = join(place, 'layout')
  const root = join(place, 'root')
  mkdirSync(layout)
  mkdirSync(root)
  execFileSync('tar', ['-xf', `${binary}.oci.tar`, '-C', layout])
  const blob = (digest: string) => {
    const path = join(layout, 'blobs', digest.replace(':', '/'))
    const found = createHash('sha256').update(readFileSync(path)).digest('hex')
    assert.equal(`sha256:${found}`, digest)
    return path
  }
  const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const manifest = json(blob(json(join(layout, 'index.json')).manifests[0].digest))
  for (const { digest } of manifest.layers) execFileSync('tar', ['-xzpf', blob(digest), '-C', root])
  const [older] = json(join(layout, 'manifest.json'))
  assert.equal(older.Config, `blobs/${manifest.config.digest.replace(':', '/')}`)
  return { root, config: json(blob(manifest.config.digest)).config }
}

const isolates =
  spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0 &&
  process.getuid?.() === 0

test('the image serves as its own root, read-only, as its own user', {
  skip: !isolates && 'needs namespaces',
}, async () => {
  const { root, config } = unpackImage()
  assert.deepEqual(
    readdirSync(root).sort(),
    ['data', 'etc', 'lib', 'lib64', 'tmp', 'usr'].filter((name) =>
      readdirSync(root).includes(name),
    ),
  )
  assert.equal(config['User'], '65532:65532')
  const port = await freePort()
  const script = `mount --bind ${root} ${root} && mount --bind ${root}/data ${root}/data && mount -o remount,bind,ro ${root} && exec chroot --userspec=65532:65532 ${root} "$@"`
  const command = [...(config['Entrypoint'] as string[]), ...(config['Cmd'] as string[])]
  const args = ['--mount', '--pid', '--fork', 'sh', '-c', script, 'sh', ...command]
  const options = { detached: true, env: { PATH: process.env['PATH'] } }
  const child = spawn('unshare', [...args, `--secure-port=${port}`], options)
  running.add(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const ended = new Promise((done) => child.once('close', done))
  await until(
    'the server',
    () => said.includes('export KUBECONFIG=/data/') || child.exitCode !== null,
  )
  const ready = spawnSync('curl', ['-sk', `https://127.0.0.1:${port}/readyz`], { encoding: 'utf8' })
  assert.equal(ready.stdout, 'ok', said)
  assert.equal(statSync(join(root, 'data', 'state.db')).uid, 65_532)
  const [, ...health] = (config['Healthcheck'] as { Test: string[] }).Test
  const healthy = spawnSync('chroot', ['--userspec=65532:65532', root, ...health], {
    encoding: 'utf8',
  })
  assert.equal(healthy.stdout, 'ok\n', healthy.stderr)
  // The group: a change of user ends the tie between parent and child.
  process.kill(-child.pid!, 'SIGKILL')
  await ended
})

const verifies = spawnSync('systemd-analyze', ['--version']).status === 0

test('systemd accepts the unit', { skip: !verifies && 'needs systemd-analyze' }, () => {
  const unit = readFileSync(join(dist, 'binnacle.service'), 'utf8').replaceAll(
    '/usr/local/bin/binnacle',
    binary,
  )
  const path = join(place, 'binnacle.service')
  execFileSync('sh', ['-c', 'cat > "$0"', path], { input: unit })
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], {
    encoding: 'utf8',
  })
  assert.deepEqual(
    [status, stderr.split('\n').filter((line) => line.includes('binnacle'))],
    [0, []],
  )
})
