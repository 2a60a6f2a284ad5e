/** Section 4.10 of the specification, sentence by sentence: health. */
import assert from 'node:assert/strict'
import { type Row, specify, type Wire } from './specification.fixture.ts'

const endpoints = ['healthz', 'livez', 'readyz'] as const

const textOf = async (on: Wire, path: string) => (await on.expect(200, 'GET', path)).text
const linesOf = async (on: Wire, path: string) => (await textOf(on, path)).trimEnd().split('\n')

const rows: Row[] = endpoints.flatMap((endpoint): Row[] => [
  [
    '4.10',
    `/${endpoint} is 200 and ok when the server is well`,
    async (on) => assert.equal(await textOf(on, `/${endpoint}`), 'ok'),
  ],
  [
    '4.10.2',
    `/${endpoint}?verbose prints a line for each check and says at the end that they passed`,
    async (on) => {
      const lines = await linesOf(on, `/${endpoint}?verbose`)
      assert.equal(lines.pop(), `${endpoint} check passed`)
      for (const line of lines) assert.match(line, /^\[\+\]\S+ ok$/)
    },
  ],
  [
    '4.10.3',
    `/${endpoint}: an excluded check is marked, the others are not; an unknown name yields a warning`,
    async (on) => {
      const lines = await linesOf(on, `/${endpoint}?verbose&exclude=etcd`)
      assert.ok(lines.includes('[+]etcd excluded: ok'))
      assert.equal(lines.filter((line) => line.includes('excluded')).length, 1)
      const several = await linesOf(on, `/${endpoint}?verbose&exclude=etcd&exclude=log`)
      assert.equal(several.filter((line) => line.includes('excluded')).length, 2)
      const none = await textOf(on, `/${endpoint}?verbose&exclude=none`)
      assert.match(none, /^warn: some health checks cannot be excluded: no matches for "none"$/m)
    },
  ],
  [
    '4.10.4',
    `/${endpoint}: each name between [+] and ok is a check of its own below the path`,
    async (on) => {
      const lines = (await linesOf(on, `/${endpoint}?verbose`)).slice(0, -1)
      const names = lines.map((line) => line.slice('[+]'.length, -' ok'.length))
      for (const name of ['ping', 'log', 'etcd', 'autoregister-completion']) {
        assert.ok(names.includes(name), name)
      }
      assert.ok(names.some((name) => name.startsWith('poststarthook/')))
      assert.equal(names.includes('shutdown'), endpoint === 'readyz')
      for (const name of names) assert.equal(await textOf(on, `/${endpoint}/${name}`), 'ok')
      await on.expect(404, 'GET', `/${endpoint}/none`)
    },
  ],
])

const byAnybody: Row = [
  '4.10',
  'anybody may ask, without credentials',
  async ({ server }) => {
    const { request } = await import('node:https')
    for (const endpoint of endpoints) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const call = request(
          { host: '127.0.0.1', port: server.port, path: `/${endpoint}`, rejectUnauthorized: false },
          (response) => resolve(response.resume().statusCode),
        )
        call.on('error', reject).end()
      })
      assert.equal(status, 200, endpoint)
    }
  },
]

specify('section 4.10', [], [...rows, byAnybody])

const older: Row[] = endpoints.map(
  (endpoint): Row => [
    '4.10.2',
    `/${endpoint}?verbose of a release before 1.20 ends as /healthz does`,
    async (on) => {
      assert.equal((await linesOf(on, `/${endpoint}?verbose`)).at(-1), 'healthz check passed')
    },
  ],
)
specify('section 4.10, before 1.20', ['--emulated-version=1.19'], older)
