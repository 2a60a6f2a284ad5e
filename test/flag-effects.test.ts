/**
 * That the flags of serving, storage and requests have the effect they promise, seen from outside.
 * A row is a flag; rows of one server share its start. That flags are read at all is
 * src/settings/flags.test.ts, what release flags do is release-flags.test.ts.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { until } from '#base/until.fixture.ts'
import {
  EtcdServer,
  etcdVersion,
  writeCertificates,
} from '../src/storage/etcd/etcd-server.fixture.ts'
import { openEtcdStorage } from '../src/storage/etcd/etcd.ts'
import { prefixRange } from '../src/storage/storage.ts'
import { type Answer, freePort, type RunningServer, startServer } from './running-server.ts'
import { core, maps, specify, Wire } from './specification.fixture.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-flags-'))
after(() => rmSync(place, { recursive: true, force: true }))
const certificates = join(place, 'certificates')

/** The certificate at an address; undefined if there is no listener. */
function shown(port: number, host: string): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
    })
    socket.on('error', () => resolve(undefined))
  })
}

interface Got {
  readonly status: number
  readonly text: string
}

/** As the administrator, whose certificate is in the directory of the server. */
function get(port: number, path: string, directory: string): Promise<Got> {
  const pem = (name: string) => readFileSync(join(directory, 'pki', name))
  const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map(pem)
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, ca, cert, key }, async (answer) => {
      let text = ''
      for await (const chunk of answer) text += chunk
      resolve({ status: answer.statusCode ?? 0, text })
    })
    call.on('error', reject)
    call.end()
  })
}

/** What a server answers that may not listen yet. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i++) {
    try {
      return await ask()
    } catch (error) {
      if (i === 2000) throw error
      await sleep(20)
    }
  }
}

const metric = (page: string, name: string): number =>
  Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  ) || 0

specify(
  'serving',
  [
    '--bind-address=0.0.0.0',
    '--advertise-address=192.0.2.55',
    '--service-cluster-ip-range=10.99.0.0/16',
    `--cert-dir=${certificates}`,
    '--min-request-timeout=1',
    '--default-watch-cache-size=20000',
    '--v=2',
  ],
  [
    [
      '--bind-address',
      'every address of the machine is listened on, not only 127.0.0.1',
      async ({ server }) => assert.ok((await shown(server.port, '127.0.0.2')) !== undefined),
    ],
    [
      '--advertise-address',
      'the kubernetes service leads there, and the certificate has it',
      async (on) => {
        const { body } = await on.expect(
          200,
          'GET',
          `${core}/namespaces/default/endpoints/kubernetes`,
        )
        assert.equal(body.subsets[0].addresses[0].ip, '192.0.2.55')
        const certificate = await shown(on.server.port, '127.0.0.1')
        assert.match(String(certificate?.subjectAltName), /IP Address:192\.0\.2\.55/)
      },
    ],
    [
      '--service-cluster-ip-range',
      'services get addresses of it, the first is the server’s own and in its certificate',
      async (on) => {
        const services = `${core}/namespaces/default/services`
        const own = await on.expect(200, 'GET', `${services}/kubernetes`)
        assert.equal(own.body.spec.clusterIP, '10.99.0.1')
        const spec = { ports: [{ port: 80 }] }
        const made = await on.expect(201, 'POST', services, { metadata: { name: 'ranged' }, spec })
        assert.match(made.body.spec.clusterIP, /^10\.99\./)
        const certificate = await shown(on.server.port, '127.0.0.1')
        assert.match(String(certificate?.subjectAltName), /IP Address:10\.99\.0\.1/)
      },
    ],
    [
      '--cert-dir',
      'what is made is kept there',
      async ({ server }) => {
        const made = new X509Certificate(readFileSync(join(certificates, 'apiserver.crt')))
        const used = await shown(server.port, '127.0.0.1')
        assert.equal(used?.fingerprint256, made.fingerprint256)
      },
    ],
    [
      '--min-request-timeout',
      'a watch without a time of its own lives between that and twice that',
      async (on) => {
        const begun = performance.now()
        await on.expect(200, 'GET', `${core}/namespaces?watch=1`)
        const tookMs = performance.now() - begun
        assert.ok(tookMs > 900 && tookMs < 60_000, `${tookMs} ms`)
      },
    ],
    [
      '--default-watch-cache-size',
      'so many changes of a kind are remembered',
      async (on) => {
        await on.expect(200, 'GET', maps)
        const { text } = await on.expect(200, 'GET', '/metrics')
        const name = 'apiserver_watch_cache_capacity'
        assert.match(
          text,
          new RegExp(`^(${name}|watch_cache_capacity)\\{.*configmaps.*\\} 20000$`, 'm'),
        )
      },
    ],
    [
      '--v',
      'from 2 on the log tells each request',
      async (on) => {
        await on.expect(404, 'GET', `${maps}/told-in-the-log`)
        await until('the log', () => on.server.said().includes('told-in-the-log'))
        assert.match(
          on.server.said(),
          /info request auditId="\S+" verb="GET" uri=".*told-in-the-log" status=404/,
        )
      },
    ],
  ],
)

/** One who has every right and no privilege: limits hold for it. */
async function limited(server: RunningServer): Promise<Wire> {
  const on = new Wire(server)
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const subjects = [{ kind: 'User', name: 'limited', apiGroup: 'rbac.authorization.k8s.io' }]
  const roleRef = { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: subjects[0].apiGroup }
  await on.expect(201, 'POST', bindings, { metadata: { name: 'limited' }, subjects, roleRef })
  return new Wire(server, { 'impersonate-user': 'limited' })
}

describe('requests', () => {
  test('watches keep no place among the requests that may run at once', async () => {
    const server = await startServer([
      '--max-requests-inflight=1',
      '--max-mutating-requests-inflight=1',
      '--authorization-mode=AlwaysAllow',
    ])
    try {
      const on = new Wire(server, { 'impersonate-user': 'somebody' })
      const watching = Array.from({ length: 40 }, () => on.follow(maps))
      await until('all to watch', async () => {
        await on.expect(200, 'GET', maps)
        return watching.every(({ events }) => events.length > 0)
      })
      for (const { leave } of watching) leave()
    } finally {
      await server.stop()
    }
  })

  test('--max-requests-inflight, --max-mutating-requests-inflight: the next is 429 with Retry-After', async () => {
    const server = await startServer([
      '--enable-priority-and-fairness=false',
      '--max-requests-inflight=1',
      '--max-mutating-requests-inflight=1',
    ])
    try {
      const on = await limited(server)
      await on.expect(200, 'GET', maps)
      // Waits for a version that does not come.
      const reading: Promise<Answer>[] = []
      const read = () => reading.push(on.ask('GET', `${maps}?resourceVersion=99999999`))
      // Waits for a body that does not come.
      const writing = open(server, 'POST', maps)
      const rows: [string, string, object | undefined][] = [
        ['GET', maps, undefined],
        ['POST', maps, { metadata: { generateName: 'one-too-many-' } }],
      ]
      for (const [method, path, body] of rows) {
        const refused = await until(`a refused ${method}`, async () => {
          if (method === 'GET') read()
          const answer = await on.ask(method, path, body)
          return answer.status === 429 && answer
        })
        assert.ok(Number(refused.headers?.['retry-after']) >= 1, method)
        assert.equal(refused.body.reason, 'TooManyRequests')
      }
      // Watches take no place, and who may do everything is not turned away.
      await on.expect(200, 'GET', `${maps}?watch=1&timeoutSeconds=1`)
      await new Wire(server).expect(200, 'GET', maps)
      writing.destroy()
      const ended = (await Promise.all(reading)).map(({ status }) => status)
      assert.ok(ended.includes(504), ended.join())
      await on.expect(200, 'GET', maps)
    } finally {
      await server.stop()
    }
  })

  test('--request-timeout: what takes longer is 504', async () => {
    const server = await startServer(['--request-timeout=1s'])
    try {
      const on = new Wire(server)
      const begun = performance.now()
      const { body } = await on.expect(504, 'GET', `${maps}?resourceVersion=99999999`)
      assert.match(body.message, /allotted timeout/)
      const tookMs = performance.now() - begun
      assert.ok(tookMs > 900, `${tookMs} ms`)
      // Watches are not among them.
      const watchBegun = performance.now()
      await on.expect(200, 'GET', `${maps}?watch=1&timeoutSeconds=2`)
      assert.ok(performance.now() - watchBegun > 1900)
    } finally {
      await server.stop()
    }
  })
})

/** A request whose body is still to come. */
function open(server: RunningServer, method: string, path: string) {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const tls = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  const headers = {
    'content-type': 'application/json',
    'content-length': '100',
    'impersonate-user': 'limited',
  }
  const call = request({ host: '127.0.0.1', port: server.port, method, path, headers, ...tls })
  call.on('error', () => {})
  call.flushHeaders()
  return call
}

describe('storage', () => {
  test('--watch-cache=false: reads go to the store; otherwise they do not', async () => {
    const asked = async (flag: string) => {
      // Controllers read maps of their own when they begin.
      const server = await startServer([flag, '--controllers=-*'])
      try {
        const on = new Wire(server)
        await on.map('read')
        const gets = async () => {
          const { text } = await on.expect(200, 'GET', '/metrics')
          return metric(
            text,
            'etcd_request_duration_seconds_count{operation="get",type="*core.ConfigMap"}',
          )
        }
        await on.expect(200, 'GET', `${maps}/read`)
        const before = await gets()
        for (let i = 0; i < 5; i++) await on.expect(200, 'GET', `${maps}/read`)
        return (await gets()) - before
      } finally {
        await server.stop()
      }
    }
    const [without, withIt] = await Promise.all([
      asked('--watch-cache=false'),
      asked('--watch-cache'),
    ])
    assert.deepEqual([without, withIt], [5, 0])
  })

  test('--data-dir, --storage-backend: state is at the given place, and memory leaves none', async () => {
    for (const [backend, expected] of [
      ['sqlite', true],
      ['memory', false],
    ] as const) {
      const directory = join(place, backend)
      const server = await startServer([`--storage-backend=${backend}`], directory)
      await server.stop()
      assert.equal(existsSync(join(directory, 'state.db')), expected, backend)
      assert.ok(existsSync(join(directory, 'admin.kubeconfig')))
    }
  })

  test('--encryption-provider-config: what is named is stored sealed, and answered 500 where no key opens it', async () => {
    const directory = join(place, 'sealed')
    const file = join(place, 'encryption.json')
    const flagsFor = (letter: string) => {
      const secret = Buffer.alloc(32, letter).toString('base64')
      const providers = [{ aesgcm: { keys: [{ name: 'a', secret }] } }]
      const resources = [{ resources: ['configmaps'], providers }]
      const apiVersion = 'apiserver.config.k8s.io/v1'
      writeFileSync(
        file,
        JSON.stringify({ apiVersion, kind: 'EncryptionConfiguration', resources }),
      )
      return ['--storage-backend=sqlite', `--encryption-provider-config=${file}`]
    }
    const rows: [letter: string, status: number, text: RegExp][] = [
      ['k', 200, /hidden text/],
      ['l', 500, /Internal error occurred: cipher: message authentication failed/],
    ]
    for (const [i, [letter, status, text]] of rows.entries()) {
      const server = await startServer(flagsFor(letter), directory)
      const wire = new Wire(server)
      try {
        if (i === 0) await wire.map('sealed', { data: { a: 'hidden text' } })
        const answer = await wire.expect(status, 'GET', `${maps}/sealed`)
        assert.match(answer.text, text)
        await wire.expect(status, 'GET', maps)
        const files = ['state.db', 'state.db-wal'].map((name) => join(directory, name))
        for (const each of files) assert.ok(!readFileSync(each).includes('hidden text'), each)
      } finally {
        await server.stop()
      }
    }
  })

  test('--livez-grace-period: a start that takes long is alive meanwhile, and not ready', async () => {
    const directory = join(place, 'slow')
    const flags = ['--storage-backend=sqlite', '--livez-grace-period=5m']
    const before = await startServer(flags, directory)
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view'
    await new Wire(before).expect(200, 'DELETE', role)
    await before.stop()
    // Another connection writes to the database: the missing role cannot be made before it is done.
    const writer = new DatabaseSync(join(directory, 'state.db'))
    writer.exec('BEGIN IMMEDIATE')
    const port = await freePort()
    const starting = startServer([...flags, `--secure-port=${port}`], directory)
    const paths = ['/livez', '/readyz', '/healthz', role]
    const seen = await untilAnswered(() =>
      Promise.all(paths.map((path) => get(port, path, directory))),
    )
    writer.close()
    const server = await starting
    const ready = await Promise.all(paths.map((path) => get(port, path, directory)))
    await server.stop()
    assert.deepEqual(
      seen.map(({ status }) => status),
      [200, 500, 500, 503],
      JSON.stringify(seen),
    )
    assert.match(seen[1].text, /\[-\]poststarthook\/rbac\/bootstrap-roles failed/)
    assert.deepEqual(
      ready.map(({ status }) => status),
      [200, 200, 200, 200],
    )
  })

  test('--tls-cert-file, --tls-private-key-file: that certificate is shown, and none is made', async () => {
    const from = await startServer([], join(place, 'other'))
    await from.stop()
    const given = join(place, 'given')
    mkdirSync(given)
    const names = ['apiserver.crt', 'apiserver.key']
    for (const name of names) copyFileSync(join(place, 'other', 'pki', name), join(given, name))
    const directory = join(place, 'with-certificate')
    const server = await startServer(
      [
        `--tls-cert-file=${join(given, names[0])}`,
        `--tls-private-key-file=${join(given, names[1])}`,
      ],
      directory,
    )
    try {
      const certificate = new X509Certificate(readFileSync(join(given, names[0])))
      const used = await shown(server.port, '127.0.0.1')
      assert.equal(used?.fingerprint256, certificate.fingerprint256)
      assert.ok(!existsSync(join(directory, 'pki', 'apiserver.crt')))
      // By default it listens on one address.
      assert.equal(await shown(server.port, '127.0.0.2'), undefined)
    } finally {
      await server.stop()
    }
  })

  const skip = etcdVersion() === undefined ? 'there is no etcd on PATH' : false
  test('--etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --storage-media-type', {
    skip,
  }, async () => {
    const tls = writeCertificates(place)
    const etcd = await EtcdServer.start(tls)
    // The first of the servers is not there.
    const flags = [
      `--etcd-servers=https://127.0.0.1:${await freePort()},${etcd.endpoint}`,
      '--etcd-prefix=/elsewhere',
      `--etcd-cafile=${tls.cafile}`,
      `--etcd-certfile=${tls.certfile}`,
      `--etcd-keyfile=${tls.keyfile}`,
    ]
    const storage = await openEtcdStorage({ endpoints: [etcd.endpoint], tls })
    try {
      const types = ['application/json', 'application/vnd.kubernetes.protobuf']
      for (const [i, type] of types.entries()) {
        const server = await startServer([...flags, `--storage-media-type=${type}`])
        await new Wire(server).map(`stored-${i}`)
        const key = `/elsewhere/configmaps/default/stored-${i}`
        const { value } = await storage.get(key)
        const begins = value?.bytes.subarray(0, 4).toString('latin1')
        assert.equal(begins, i === 0 ? '{"ki' : 'k8s\0', type)
        await server.stop()
      }
      const { value } = await storage.count(prefixRange('/registry/'))
      assert.equal(value, 0)
    } finally {
      await storage.close()
      await etcd.dispose()
    }
  })
})
