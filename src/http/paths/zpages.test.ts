/** The responses of /statusz and /flagz, by Accept header and release. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Served, startServed } from '#http/served.fixture.ts'
import { zpagesPaths } from './zpages.ts'

const startedAtMs = Date.UTC(2026, 10, 9, 13, 18, 13)
const pages = (release: number) =>
  zpagesPaths({
    release,
    served: ['statusz', 'flagz'],
    goVersion: 'node26.0.0',
    binaryVersion: `1.${release}.0`,
    startedAtMs,
    nowMs: () => startedAtMs + 3_723_000,
    random: () => 0.5,
    paths: () => [
      '/',
      '/apis',
      '/healthz',
      '/healthz/ping',
      '/openapi/v2',
      '/.well-known/x',
      '/a/b',
    ],
    flags: () => ({ v: '0', 'secure-port': '6443' }),
  })

const served = new Map<number, Served>()
for (const release of [35, 36, 37])
  served.set(release, await startServed({ release, paths: [pages(release)] }))
after(async () => {
  for (const one of served.values()) await one.stop()
})

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'
const statusText = `
apiserver statusz
${warning}

Started= Mon Nov  9 13:18:13 UTC 2026
Up= 1 hr 02 min 03 sec
Go version= node26.0.0
Binary version= 1.37.0
Emulation version= 1.37
Paths= /a /healthz
`
const flagsText = `
apiserver flagz
${warning}
secure-port=6443
v=0
`
const status = (version: string) => ({
  kind: 'Statusz',
  apiVersion: `config.k8s.io/${version}`,
  metadata: { name: 'apiserver' },
  startTime: '2026-11-09T13:18:13Z',
  uptimeSeconds: 3723,
  goVersion: 'node26.0.0',
  binaryVersion: '1.37.0',
  emulationVersion: '1.37',
  paths: ['/a', '/healthz'],
})

const texts: [path: string, accept: string, text: string][] = [
  ['/statusz', '', statusText],
  ['/statusz', '*/*', statusText],
  ['/statusz', 'text/plain', statusText],
  ['/flagz', 'text/*', flagsText],
]
for (const [path, accept, text] of texts)
  test(`${path} for ${accept || 'no header'}`, async () => {
    const answer = await (served.get(37) as Served).ask('GET', path, { headers: { accept } })
    assert.equal(answer.text, text)
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
  })

const asStatus = (version: string) => `application/json;as=Statusz;g=config.k8s.io;v=${version}`
const deprecated =
  '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."'
const objects: [release: number, version: string, warned: string | undefined, code: number][] = [
  [37, 'v1beta1', undefined, 200],
  [36, 'v1beta1', undefined, 200],
  [35, 'v1beta1', undefined, 406],
  [36, 'v1alpha1', deprecated, 200],
  [35, 'v1alpha1', undefined, 200],
  [37, 'v2', undefined, 406],
]
for (const [release, version, warned, code] of objects)
  test(`1.${release}: /statusz as ${version}`, async () => {
    const accept = asStatus(version)
    const answer = await (served.get(release) as Served).ask('GET', '/statusz', {
      headers: { accept },
    })
    assert.equal(answer.status, code)
    assert.equal((answer.headers.warning as string[] | undefined)?.[0], warned)
    if (code !== 200) return
    const shown = `1.${release}`
    const versions = { binaryVersion: `${shown}.0`, emulationVersion: shown }
    assert.deepEqual(answer.json, { ...status(version), ...versions })
    assert.equal(
      answer.headers['content-type'],
      `application/json;g=config.k8s.io;v=${version};as=Statusz`,
    )
  })

test('flags as an object, in YAML too', async () => {
  const accept = 'application/yaml;as=Flagz;g=config.k8s.io;v=v1beta1'
  const { text } = await (served.get(37) as Served).ask('GET', '/flagz', { headers: { accept } })
  assert.match(text, /^apiVersion: config.k8s.io\/v1beta1\nflags:\n {2}secure-port: "6443"\n/)
})

test('an object of an unknown version is not acceptable', async () => {
  const headers = { accept: 'application/json' }
  const { status: code, json } = await (served.get(37) as Served).ask('GET', '/flagz', { headers })
  assert.equal(code, 406)
  assert.equal(
    json.message,
    'only the following media types are accepted: application/json, application/yaml, text/plain',
  )
})
