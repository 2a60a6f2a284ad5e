/**
 * Certificates on disk: created once, kept, renewed in time, and never overwritten if an operator
 * provided them.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { issueCertificate } from '#base/certificate.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { parse } from 'yaml'
import {
  type Machine,
  addressBytes,
  advertisedAddress,
  externalAddress,
  firstServiceAddress,
  localUrl,
  servingNames,
} from './addresses.ts'
import { type Certificates, ensureCertificates, givenFiles } from './certificates.ts'
import { parseFlags, type Settings } from '#settings/flags.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { renewDaily } from './renewal.ts'

const root = mkdtempSync(join(tmpdir(), 'binnacle-certificates-'))
after(() => rmSync(root, { recursive: true }))

const machine: Machine = { hostname: 'ship', addresses: ['192.0.2.7', '2001:db8::7'] }
const startMs = Date.now()
const dayMs = 86_400_000

let count = 0
function settingsFor(argv: string[] = [], dataDir = join(root, `data-${++count}`)): Settings {
  const parsed = parseFlags([`--data-dir=${dataDir}`, ...argv])
  assert.ok('settings' in parsed)
  return parsed.settings
}

const ensure = (settings: Settings, nowMs = startMs, on = machine): Certificates =>
  ensureCertificates(settings, { now: () => nowMs }, on)

test('the first call makes everything, private, within milliseconds; the second nothing', () => {
  const settings = settingsFor()
  let first = {} as Certificates
  const spentMs = processorMs(() => {
    first = ensure(settings)
  })
  assert.ok(spentMs < 500, `${spentMs} ms`)
  assert.deepEqual(first.made, ['ca', 'apiserver', 'admin', 'sa'])
  const pki = join(settings.dataDir, 'pki')
  assert.equal(statSync(settings.dataDir).mode & 0o777, 0o700)
  assert.equal(statSync(pki).mode & 0o777, 0o700)
  for (const name of readdirSync(pki))
    assert.equal(statSync(join(pki, name)).mode & 0o777, 0o600, name)
  assert.deepEqual(readdirSync(pki).sort(), [
    'admin.crt',
    'admin.key',
    'apiserver.crt',
    'apiserver.key',
    'ca.crt',
    'ca.key',
    'sa.key',
    'sa.pub',
  ])
  assert.deepEqual(ensure(settings), { ...first, made: [] })
})

test('the serving certificate covers every name and address, the admin is of system:masters', () => {
  const made = ensure(
    settingsFor([
      '--service-cluster-ip-range=10.3.0.0/16,fd00::/112',
      '--advertise-address=198.51.100.1',
    ]),
  )
  const serving = new X509Certificate(made.serving.certificatePem)
  for (const name of [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'ship',
  ])
    assert.ok(serving.checkHost(name), name)
  for (const address of ['127.0.0.1', '::1', '10.3.0.1', 'fd00::1', '198.51.100.1'])
    assert.ok(serving.checkIP(address), address)
  const ca = new X509Certificate(made.ca.certificatePem)
  assert.ok(serving.checkIssued(ca) && serving.verify(ca.publicKey))
  assert.equal(
    new X509Certificate(made.admin.certificatePem).subject,
    'O=system:masters\nCN=kubernetes-admin',
  )
})

const renewals: [name: string, days: number, made: string[]][] = [
  ['a day later', 1, []],
  ['after two thirds of a year', 244, ['apiserver', 'admin']],
  ['long after they expired', 1000, ['apiserver', 'admin']],
  ['when the authority is due as well', 2500, ['ca', 'apiserver', 'admin']],
  ['if the clock is earlier than their creation', -30, ['ca', 'apiserver', 'admin']],
]
for (const [name, days, made] of renewals)
  test(`renewal ${name}`, () => {
    const settings = settingsFor()
    const before = ensure(settings)
    const later = ensure(settings, startMs + days * dayMs)
    assert.deepEqual(later.made, made)
    // The key and the name of the authority stay, so both generations trust each other.
    const [old, fresh] = [before, later].map((all) => new X509Certificate(all.ca.certificatePem))
    assert.ok(fresh!.publicKey.equals(old!.publicKey))
    assert.ok(new X509Certificate(later.serving.certificatePem).checkIssued(old!))
    assert.equal(later.serviceAccountKey.privatePem, before.serviceAccountKey.privatePem)
  })

test('a renewal that fails halfway is made good by the next', () => {
  const settings = settingsFor()
  ensure(settings)
  const later = startMs + 244 * dayMs
  for (const name of ['apiserver', 'admin']) {
    mkdirSync(join(settings.dataDir, 'pki', `${name}.crt.${process.pid}.new`))
    assert.throws(() => ensure(settings, later), /\.crt cannot be written/)
  }
  assert.deepEqual(ensure(settings, later).made, ['admin'])
  assert.deepEqual(ensure(settings, later).made, [])
})

test('a first start that fails halfway is made good by the next', () => {
  const settings = settingsFor()
  const pki = join(settings.dataDir, 'pki')
  for (const name of ['ca.crt', 'ca.key', 'apiserver.crt', 'apiserver.key', 'admin.crt']) {
    mkdirSync(join(pki, `${name}.${process.pid}.new`), { recursive: true })
    assert.throws(() => ensure(settings), new RegExp(`${name} cannot be written`))
  }
  assert.deepEqual(ensure(settings).made, ['admin', 'sa'])
})

test('a new address of the machine means a new serving certificate', () => {
  const settings = settingsFor(['--bind-address=0.0.0.0'])
  ensure(settings)
  assert.deepEqual(ensure(settings).made, [])
  assert.deepEqual(ensure(settings, startMs, { ...machine, addresses: ['203.0.113.9'] }).made, [
    'apiserver',
  ])
  assert.deepEqual(ensure(settings, startMs, { ...machine, hostname: 'not a name' }).made, [
    'apiserver',
  ])
})

test('a replaced authority signs anew', () => {
  const one = settingsFor()
  ensure(one)
  const other = settingsFor()
  ensure(other)
  for (const name of ['ca.crt', 'ca.key'])
    writeFileSync(join(one.dataDir, 'pki', name), readFileSync(join(other.dataDir, 'pki', name)))
  assert.deepEqual(ensure(one).made, ['apiserver', 'admin'])
})

const damages: [file: string, text: string | undefined, message: RegExp][] = [
  ['ca.crt', 'garbage', /ca\.crt holds no PEM certificate/],
  ['ca.key', '', /ca\.key holds no PEM private key/],
  ['ca.key', undefined, /ca\.crt is of no use without .*ca\.key/],
  ['ca.crt', undefined, /ca\.key is of no use without .*ca\.crt/],
  [
    'apiserver.crt',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    /apiserver\.crt holds no PEM certificate/,
  ],
  ['apiserver.key', undefined, /apiserver\.crt is of no use without .*apiserver\.key/],
  ['apiserver.crt', undefined, /apiserver\.key is of no use without .*apiserver\.crt/],
  ['sa.key', 'x', /sa\.key holds no PEM private key/],
]
for (const [file, text, message] of damages)
  test(`${file} ${text === undefined ? 'missing' : 'garbled'} is refused by name and left alone`, () => {
    const settings = settingsFor()
    ensure(settings)
    const pki = join(settings.dataDir, 'pki')
    if (text === undefined) rmSync(join(pki, file))
    else writeFileSync(join(pki, file), text)
    const all = () => readdirSync(pki).map((name) => readFileSync(join(pki, name), 'utf8'))
    const before = all()
    assert.throws(() => ensure(settings), { name: 'CannotUseFile', message })
    assert.deepEqual(all(), before)
  })

test('a key of another certificate is refused', () => {
  const settings = settingsFor()
  ensure(settings)
  const pki = join(settings.dataDir, 'pki')
  writeFileSync(join(pki, 'admin.key'), readFileSync(join(pki, 'apiserver.key')))
  assert.throws(() => ensure(settings), /admin\.key is not the key of .*admin\.crt/)
})

test('a file that cannot be written is named', () => {
  const settings = settingsFor()
  const path = join(settings.dataDir, 'pki', 'ca.key')
  mkdirSync(`${path}.${process.pid}.new`, { recursive: true })
  assert.throws(() => ensure(settings), {
    message: `${path} cannot be written (EISDIR: illegal operation on a directory)`,
  })
})

test('a data directory that is a file is named', () => {
  const file = join(root, 'a-file')
  writeFileSync(file, '')
  assert.throws(() => ensure(settingsFor([], file)), /a-file is a file, not a directory$/)
})

test('a serving certificate that was given and is out of date is used, with a warning', () => {
  const own = settingsFor()
  ensure(own)
  const file = join(own.dataDir, 'pki', 'apiserver')
  const settings = settingsFor([
    `--tls-cert-file=${file}.crt`,
    `--tls-private-key-file=${file}.key`,
  ])
  const rows: [days: number, warning: RegExp | undefined][] = [
    [-2, /^--tls-cert-file: \S+apiserver\.crt is not valid before \d{4}-.*Z: clients refuse it$/],
    [1, undefined],
    [400, /^--tls-cert-file: \S+apiserver\.crt is not valid since \d{4}-.*Z: clients refuse it$/],
  ]
  for (const [days, warning] of rows) {
    const { warnings } = ensure(settings, startMs + days * dayMs)
    if (warning === undefined) assert.deepEqual(warnings, [])
    else assert.match(warnings.join(), warning)
  }
})

test('--cert-dir and --tls-cert-file', () => {
  const other = ensure(settingsFor([], join(root, 'other')))
  const pki = join(root, 'other', 'pki')
  const settings = settingsFor([
    `--cert-dir=${join(root, 'elsewhere')}`,
    `--tls-cert-file=${join(pki, 'apiserver.crt')}`,
    `--tls-private-key-file=${join(pki, 'apiserver.key')}`,
  ])
  const made = ensure(settings)
  assert.deepEqual(made.made, ['ca', 'admin', 'sa'])
  assert.deepEqual(made.serving, other.serving)
  assert.equal(made.trustPem, other.serving.certificatePem)
  assert.ok(readdirSync(join(root, 'elsewhere')).includes('ca.crt'))
})

/** A pair that no authority of ours has signed. */
function putPair(directory: string, name: string): { certificatePem: string; keyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificatePem = issueCertificate(
    {
      subject: { commonName: 'mine' },
      usages: ['server'],
      addresses: [addressBytes('127.0.0.1')],
      publicKey,
      serial: Buffer.from([1]),
      notBeforeMs: startMs - dayMs,
      notAfterMs: startMs + 30 * dayMs,
    },
    { privateKey },
  )
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${name}.crt`), certificatePem)
  writeFileSync(join(directory, `${name}.key`), keyPem)
  return { certificatePem, keyPem }
}

test('a serving certificate that the operator put into the directory is used, and never written', () => {
  const directory = join(root, 'theirs')
  const settings = settingsFor([`--cert-dir=${directory}`])
  const theirs = putPair(directory, 'apiserver')
  const rows: [days: number, made: string[], warnings: RegExp[]][] = [
    [0, ['ca', 'admin', 'sa'], [/theirs\/apiserver\.crt is not signed by .*never renewed$/]],
    [29, [], [/never renewed$/]],
    [31, [], [/apiserver\.crt is not valid since/, /never renewed$/]],
  ]
  for (const [days, made, warnings] of rows) {
    const all = ensure(settings, startMs + days * dayMs)
    assert.deepEqual(all.serving, theirs)
    assert.equal(all.trustPem, theirs.certificatePem)
    assert.deepEqual(all.made, made)
    assert.equal(all.warnings.length, warnings.length)
    for (const [i, warning] of warnings.entries()) assert.match(all.warnings[i]!, warning)
  }
  assert.equal(readFileSync(join(directory, 'apiserver.key'), 'utf8'), theirs.keyPem)
})

test('a provided certificate that no client here would trust is rejected, and left alone', () => {
  const settings = settingsFor()
  const pki = join(settings.dataDir, 'pki')
  const theirs = putPair(pki, 'admin')
  assert.throws(() => ensure(settings), /admin\.crt is not signed by .*ca\.crt; mend it, or move/)
  assert.equal(readFileSync(join(pki, 'admin.crt'), 'utf8'), theirs.certificatePem)
})

test('a TLS client that trusts the authority and presents the admin certificate is accepted', async () => {
  const made = ensure(settingsFor())
  const server = createServer({
    key: made.serving.keyPem,
    cert: made.serving.certificatePem,
    ca: made.ca.certificatePem,
    requestCert: true,
    rejectUnauthorized: true,
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const seen = new Promise<TLSSocket>((accepted) => server.on('secureConnection', accepted))
  const { port } = server.address() as { port: number }
  const client = connect({
    port,
    host: '127.0.0.1',
    servername: 'kubernetes.default.svc',
    ca: made.trustPem,
    key: made.admin.keyPem,
    cert: made.admin.certificatePem,
  })
  const socket = await seen
  assert.ok(socket.authorized)
  assert.equal(socket.getPeerX509Certificate()?.subject, 'O=system:masters\nCN=kubernetes-admin')
  client.destroy()
  server.close()
})

test('the kubeconfig is YAML with everything inside, private, and written only when it changes', () => {
  const settings = settingsFor(['--secure-port=7443'])
  const made = ensure(settings)
  const path = writeKubeconfig(settings, made)
  assert.equal(path, join(settings.dataDir, 'admin.kubeconfig'))
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const config = parse(readFileSync(path, 'utf8'))
  assert.equal(config.clusters[0].cluster.server, 'https://127.0.0.1:7443')
  const user = config.users[0].user
  assert.equal(Buffer.from(user['client-key-data'], 'base64').toString(), made.admin.keyPem)
  const written = statSync(path).ino
  writeKubeconfig(settings, made)
  assert.equal(statSync(path).ino, written)
  writeKubeconfig({ ...settings, securePort: 7444 }, made)
  assert.notEqual(statSync(path).ino, written)
})

test('daily renewal reports changes and failures, and keeps what is in use', () => {
  const settings = settingsFor()
  const first = ensure(settings)
  let nowMs = startMs
  const reported: string[] = []
  const renewal = renewDaily(
    first,
    () => ensure(settings, nowMs),
    (fresh) => reported.push(fresh.made.join()),
    (error) => reported.push(error.name),
  )
  assert.equal(renewal.check().serving, renewal.check().serving)
  nowMs += 300 * dayMs
  const renewed = renewal.check()
  writeFileSync(join(settings.dataDir, 'pki', 'ca.crt'), 'garbage')
  assert.equal(renewal.check(), renewed)
  renewal.stop()
  assert.deepEqual(reported, ['apiserver,admin', 'CannotUseFile'])
})

test('certificates for names are read with the others; changes are reported, and problems give warnings', () => {
  const other = settingsFor().dataDir
  ensure(settingsFor([`--data-dir=${other}`]))
  const [cert, key] = ['apiserver.crt', 'apiserver.key'].map((name) => join(other, 'pki', name))
  const settings = settingsFor([`--tls-sni-cert-key=${cert},${key}:*.example`])
  const first = ensure(settings)
  const pair = { certificatePem: readFileSync(cert!, 'utf8'), keyPem: readFileSync(key!, 'utf8') }
  assert.deepEqual(first.named, [{ ...pair, names: ['*.example'] }])
  assert.deepEqual(first.warnings, [])
  const reported: string[] = []
  const renewal = renewDaily(
    first,
    () => ensure(settings),
    (fresh) => reported.push(fresh.named[0]?.certificatePem ?? ''),
    (error) => reported.push(error.message),
  )
  renewal.check()
  const admin = readFileSync(join(other, 'pki', 'admin.crt'), 'utf8')
  writeFileSync(cert!, admin)
  renewal.check()
  writeFileSync(key!, readFileSync(join(other, 'pki', 'admin.key')))
  renewal.check()
  renewal.stop()
  assert.deepEqual(reported, [`${key} is not the key of ${cert}`, admin])
  assert.match(
    ensure(settings, startMs + 400 * dayMs).warnings.join(),
    /^--tls-sni-cert-key: .*apiserver\.crt is not valid since .*: clients refuse it$/,
  )
})

test('what could not be laid in is laid in the next day', () => {
  const settings = settingsFor()
  const first = ensure(settings)
  const reported: string[] = []
  const renewal = renewDaily(
    first,
    () => ensure(settings, startMs + 300 * dayMs),
    (fresh) => {
      reported.push(fresh.serving.certificatePem === first.serving.certificatePem ? 'old' : 'new')
      if (reported.length === 1) throw new Error('the disk is full')
    },
    (error) => reported.push(error.message),
  )
  assert.equal(renewal.check(), first)
  assert.notEqual(renewal.check(), first)
  renewal.check()
  renewal.stop()
  assert.deepEqual(reported, ['new', 'the disk is full', 'new'])
})

const looks: [what: string, jumpMs: number, checks: number][] = [
  ['an hour passes', 3_600_000, 0],
  ['a day passes', dayMs, 1],
  ['the clock is set a year ahead', 365 * dayMs, 1],
  ['the clock is set back an hour', -3_600_000, 1],
  ['the clock is set back a year', -365 * dayMs, 1],
]
for (const [what, jumpMs, checks] of looks) {
  test(`certificates are looked at within a minute when ${what}`, (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const settings = settingsFor()
    const first = ensure(settings)
    let nowMs = startMs
    let looked = 0
    const renewal = renewDaily(
      first,
      () => {
        looked++
        return first
      },
      () => {},
      (error) => assert.fail(error),
      { now: () => nowMs },
    )
    t.mock.timers.tick(60_000)
    nowMs += jumpMs
    t.mock.timers.tick(60_000)
    t.mock.timers.tick(60_000)
    assert.equal(looked, checks)
    renewal.stop()
  })
}

test('certificates are checked within a minute when the operator changed a provided one', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { dataDir } = settingsFor()
  const first = ensure(settingsFor([`--data-dir=${dataDir}`]))
  const file = (name: string) => join(dataDir, 'pki', name)
  const settings = settingsFor([
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    `--tls-sni-cert-key=${file('ca.crt')},${file('ca.key')}`,
  ])
  assert.deepEqual(
    givenFiles(settings),
    ['apiserver.crt', 'apiserver.key', 'ca.crt', 'ca.key'].map(file),
  )
  let looked = 0
  const look = () => {
    looked++
    return first
  }
  const never = (error?: unknown) => assert.fail(String(error))
  const clock = { now: () => startMs }
  const renewal = renewDaily(first, look, never, never, clock, givenFiles(settings))
  t.mock.timers.tick(60_000)
  assert.equal(looked, 0)
  for (const [i, name] of ['apiserver.crt', 'apiserver.key', 'ca.crt', 'ca.key'].entries()) {
    writeFileSync(file(name), 'another')
    t.mock.timers.tick(60_000)
    t.mock.timers.tick(60_000)
    assert.equal(looked, i + 1)
  }
  rmSync(file('ca.key'))
  t.mock.timers.tick(60_000)
  assert.equal(looked, 5)
  // What leads to itself cannot be looked at, and neither can what others closed.
  rmSync(file('apiserver.crt'))
  symlinkSync(file('apiserver.crt'), file('apiserver.crt'))
  t.mock.timers.tick(60_000)
  assert.equal(looked, 6)
  renewal.stop()
})

const addresses: [bind: string, advertise: string | undefined, advertised: string, url: string][] =
  [
    ['127.0.0.1', undefined, '127.0.0.1', 'https://127.0.0.1:6443'],
    ['0.0.0.0', undefined, '192.0.2.7', 'https://127.0.0.1:6443'],
    ['::', undefined, '2001:db8::7', 'https://127.0.0.1:6443'],
    ['0.0.0.0', '198.51.100.1', '198.51.100.1', 'https://127.0.0.1:6443'],
    ['192.0.2.7', '0.0.0.0', '192.0.2.7', 'https://192.0.2.7:6443'],
    ['0.0.0.0', '::', '192.0.2.7', 'https://127.0.0.1:6443'],
    ['2001:db8::7', undefined, '2001:db8::7', 'https://[2001:db8::7]:6443'],
  ]
for (const [bind, advertise, advertised, url] of addresses)
  test(`bound to ${bind}, advertising ${advertise ?? 'nothing'}`, () => {
    const argv = [
      `--bind-address=${bind}`,
      ...(advertise === undefined ? [] : [`--advertise-address=${advertise}`]),
    ]
    const settings = settingsFor(argv)
    assert.equal(advertisedAddress(settings, machine), advertised)
    assert.equal(localUrl(settings), url)
    assert.ok(servingNames(settings, machine).addresses.includes(advertised))
  })

for (const [given, reported] of [
  [[], '127.0.0.1:6443'],
  [['--bind-address=2001:db8::7'], '[2001:db8::7]:6443'],
  [['--external-hostname=api.example'], 'api.example:6443'],
  [['--external-hostname=api.example:77'], 'api.example:77'],
  [['--external-hostname=::5', '--secure-port=7000'], '[::5]:7000'],
  [['--external-hostname=[::5]:77'], '[::5]:77'],
] as [string[], string][])
  test(`clients connect to ${reported}`, () =>
    assert.equal(externalAddress(settingsFor(given)), reported))

for (const [block, first] of [
  ['10.0.0.0/16', '10.0.0.1'],
  ['10.0.255.255/16', '10.0.0.1'],
  ['fd00::/112', 'fd00::1'],
] as const)
  test(`the first address of ${block}`, () => assert.equal(firstServiceAddress(block), first))
