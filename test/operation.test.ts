/**
 * The commands of an operator, as an operator runs them: credentials, backup and restore,
 * verification, diagnosis, manifests checked before they are applied.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, run, startServer } from './running-server.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-operation-'))
after(() => rmSync(place, { recursive: true, force: true }))
const dataDir = join(place, 'data')
const archive = join(place, 'backup.tar')
const kubectl = process.env['KUBECTL'] ?? 'kubectl'
const maps = '/api/v1/namespaces/default/configmaps'
let server: RunningServer

before(async () => {
  server = await startServer(['--storage-backend=sqlite', '--controllers=-*'], dataDir)
  for (const name of ['one', 'two'])
    await server.ask('POST', maps, { metadata: { name }, data: { name } })
})
after(() => server?.stop())

async function binnacle(args: string[], code = 0): Promise<string> {
  const { code: ended, said } = await run(args).ended()
  assert.equal(ended, code, said)
  return said
}
const here = `--data-dir=${dataDir}`

test('kubeconfig: a user with groups, for a time', async () => {
  const file = join(place, 'alice.kubeconfig')
  const args = ['--user', 'alice', '--group', 'dev', '--group=ops', '--expires', '30d']
  const port = `--secure-port=${server.port}`
  await binnacle(['kubeconfig', ...args, '--output', file, here, port])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const asked = spawnSync(kubectl, [`--kubeconfig=${file}`, 'get', '--raw', maps], {
    encoding: 'utf8',
  })
  assert.match(asked.stderr, /User "alice" cannot list resource "configmaps"/)
  const text = readFileSync(file, 'utf8')
  const pem = Buffer.from(/client-certificate-data: (\S+)/.exec(text)?.[1] ?? '', 'base64')
  const { X509Certificate } = await import('node:crypto')
  const { subject, validTo } = new X509Certificate(pem)
  assert.equal(subject, 'O=dev\nO=ops\nCN=alice')
  const days = (Date.parse(validTo) - Date.now()) / 86_400_000
  assert.ok(days > 29 && days <= 30, `${days}`)
  assert.match(
    await binnacle(['kubeconfig', '--user=bob', here]),
    /^apiVersion: v1\nkind: Config\n/,
  )
})

const addresses: [flags: string[], url: () => string][] = [
  [[], () => server.url],
  [['--secure-port=0'], () => server.url],
  [['--secure-port=1'], () => 'https://127.0.0.1:1'],
  [['--bind-address=10.1.2.3'], () => 'https://10.1.2.3:6443'],
  [['--server=https://api.example.com'], () => 'https://api.example.com'],
]
for (const [flags, url] of addresses)
  test(`kubeconfig ${flags.join(' ')} has the address of the server`, async () => {
    const text = await binnacle(['kubeconfig', '--user=bob', here, ...flags])
    assert.equal(/^ {4}server: (.*)$/m.exec(text)?.[1], url())
  })

test('health checks the server of the data directory, whatever its port', async () => {
  assert.equal(await binnacle(['health', here]), 'ok\n')
  const refused = await binnacle(['health', here, '--secure-port=1'], 1)
  assert.match(refused, /no server answers at https:\/\/127\.0\.0\.1:1:/)
})

const refusedTimes: [args: string[], line: RegExp][] = [
  [['--expires=soon'], /--expires: "soon" is not a time such as 12h or 30d/],
  [['--data-dir=/nonexistent/x'], /ca\.crt does not exist: start the server once/],
]
for (const [args, line] of refusedTimes)
  test(`kubeconfig ${args.join(' ')} is refused`, async () => {
    assert.match(await binnacle(['kubeconfig', '--user=a', here, ...args], 1), line)
  })

test('backup and restore: one archive with the objects and the keys', async () => {
  assert.match(
    await binnacle(['backup', archive, here]),
    /^backed up .* \(\d+ bytes, with keys\)\n$/,
  )
  assert.equal(statSync(archive).mode & 0o777, 0o600)
  const listed = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).split('\n')
  for (const name of ['binnacle-backup.json', 'pki/ca.key', 'pki/sa.key', 'state.db'])
    assert.ok(listed.includes(name), name)
  await server.ask('POST', maps, { metadata: { name: 'later' } })
  const restored = join(place, 'restored')
  const said = await binnacle(['restore', archive, `--data-dir=${restored}`])
  assert.match(said, /^restored \d+ objects to .*restored \(with keys\)\n$/)
  const again = await startServer(['--storage-backend=sqlite', '--controllers=-*'], restored)
  const { body } = await again.ask('GET', maps)
  const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  assert.ok(names.includes('one') && names.includes('two') && !names.includes('later'), `${names}`)
  for (const key of ['ca.crt', 'sa.key'])
    assert.deepEqual(
      readFileSync(join(restored, 'pki', key)),
      readFileSync(join(dataDir, 'pki', key)),
    )
  await again.stop()
  assert.match(
    await binnacle(['restore', archive, `--data-dir=${restored}`], 1),
    /state\.db exists: restore needs an empty directory/,
  )
})

test('restore refuses a damaged archive and leaves nothing behind', async () => {
  const bytes = readFileSync(archive)
  const rows: [name: string, bytes: Buffer, line: RegExp][] = [
    ['cut', bytes.subarray(0, bytes.length / 2), /is truncated/],
    ['changed', Buffer.from(bytes), /the checksum of state\.db differs/],
  ]
  rows[1]![1][bytes.length - 4096] ^= 1
  for (const [name, damaged, line] of rows) {
    const file = join(place, `${name}.tar`)
    writeFileSync(file, damaged)
    const into = join(place, name)
    assert.match(await binnacle(['restore', file, `--data-dir=${into}`], 1), line)
    assert.throws(() => statSync(join(into, 'state.db')))
    assert.throws(() => statSync(join(into, 'pki', 'ca.key')))
  }
})

test('restore: a file that is no backup is refused, and nothing is left behind', async () => {
  const text = join(place, 'notes.txt')
  writeFileSync(text, 'a note\n'.repeat(200))
  const cut = join(place, 'cut.tar')
  writeFileSync(cut, readFileSync(archive).subarray(0, 100_000))
  const rows: [file: string, line: RegExp][] = [
    [text, /notes\.txt is not a backup\n$/],
    [place, /binnacle-operation-\w+ is not a backup\n$/],
    [cut, /cut\.tar is truncated/],
  ]
  for (const [file, line] of rows) {
    const into = join(place, 'left')
    assert.match(await binnacle(['restore', file, `--data-dir=${into}`], 1), line)
    assert.equal(existsSync(into), false, file)
  }
})

test('verify: nothing while all is well; each damage by name', async () => {
  assert.match(
    await binnacle(['verify', here]),
    /^verified \d+ rows, \d+ objects at revision \d+: no problem\n$/,
  )
  const copy = join(place, 'damaged')
  await binnacle(['restore', archive, `--data-dir=${copy}`])
  const database = new DatabaseSync(join(copy, 'state.db'))
  const { crc32 } = await import('#base/crc32.ts')
  const change = (name: string, value: string) => {
    const key = `/registry/configmaps/default/${name}`
    const bytes = Buffer.from(value)
    database
      .prepare('UPDATE log SET value = ?, checksum = ? WHERE key = ?')
      .run(bytes, crc32(bytes, crc32(key)), key)
  }
  change('one', '{"kind":')
  change(
    'two',
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"three","namespace":"x"}}',
  )
  database.close()
  const said = await binnacle(['verify', `--data-dir=${copy}`], 1)
  assert.match(said, /default\/one: cannot be read: /)
  assert.match(said, /default\/two: its metadata\.name is "three"\n/)
  assert.match(said, /default\/two: its metadata\.namespace is "x"\n/)
  assert.match(said, /default\/two: it has no metadata\.uid\n/)
  assert.match(said, /: 4 problems\n$/)
})

test('doctor: before the first start there is nothing to mend, and an empty directory is an error', async () => {
  const absent = join(place, 'absent')
  const said = await binnacle(['doctor', `--data-dir=${absent}`])
  assert.match(said, /^ok {4}store: no database yet: the first start makes it; /m)
  assert.match(said, /\n0 errors, 0 warnings\n$/)
  mkdirSync(absent)
  assert.match(
    await binnacle(['doctor', `--data-dir=${absent}`], 1),
    /^error store: there is no database .*state\.db; --data-dir names its directory$/m,
  )
})

test('doctor: certificates, disk and clients of APIs that are removed later', async () => {
  const ingress = {
    apiVersion: 'policy/v1beta1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'old' },
    spec: { minAvailable: 1 },
  }
  const made = await server.ask(
    'POST',
    '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets',
    ingress,
  )
  assert.equal(made.status, 201, made.text)
  const said = await binnacle(['doctor', here])
  assert.match(said, /^ok {4}certificates: ca\.crt is valid until 20\d\d-/m)
  assert.match(said, /^ok {4}disk: \d+ MB are free/m)
  assert.match(
    said,
    /^warn {2}store: policy\/v1beta1 PodDisruptionBudget is not served as 1\.25; .*default\/old\)/m,
  )
  assert.match(said, /\n0 errors, 1 warnings\n$/)
})

test('check reports what the release drops, and the log of a server says it once', async () => {
  const folder = join(place, 'manifests')
  mkdirSync(folder)
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: sidecar}
spec:
  contaners: []
  initContainers: [{name: a, image: b, restartPolicy: Always}]
  containers: [{name: a, image: b}]
`
  writeFileSync(join(folder, 'pod.yaml'), `# none\n---\n${pod}---\n`)
  const flow = 'apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\n'
  writeFileSync(join(folder, 'flow.yaml'), flow)
  const said = await binnacle(['check', '-f', folder], 1)
  assert.match(
    said,
    /the field spec\.initContainers\[0\]\.restartPolicy is dropped; it is supported since 1\.28/,
  )
  assert.match(said, /no release has the field spec\.contaners/)
  assert.match(said, /FlowSchema: served since 1\.29, not in 1\.22/)
  assert.match(said, /checked 2 objects against release 1\.22: 3 reports\n$/)
  writeFileSync(join(folder, 'broken.yaml'), 'kind: [\n')
  const both = await binnacle(['check', '-f', folder], 1)
  assert.match(both, /broken\.yaml: cannot be parsed: /)
  assert.match(both, /checked 2 objects against release 1\.22: 4 reports\n$/)
  rmSync(join(folder, 'broken.yaml'))
  writeFileSync(join(folder, 'pod.yaml'), pod.replace(/ {2}contaners.*\n/, ''))
  assert.match(
    await binnacle(['check', '-f', folder, '--emulated-version=1.37']),
    /nothing is dropped\n$/,
  )
  const body = {
    metadata: { name: 'sidecar' },
    spec: {
      initContainers: [{ name: 'a', image: 'b', restartPolicy: 'Always' }],
      containers: [{ name: 'a', image: 'b' }],
    },
  }
  for (let i = 0; i < 2; i++)
    await server.ask('POST', '/api/v1/namespaces/default/pods?dryRun=All', body)
  const line =
    /warn the field spec\.initContainers\[\]\.restartPolicy of v1 Pod is dropped: .*1\.28/g
  await until('the line', () => line.test(server.said()))
  assert.equal(server.said().match(line)?.length, 1)
})
