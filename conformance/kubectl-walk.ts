/**
 * kubectl walks through a real server and through this one with the same commands, and must print
 * the same and end alike. Ages, uids, times, addresses and prose are not compared.
 *
 *   node tools/run.mjs file conformance/kubectl-walk.ts --peer URL --ours URL --kubectl PATH
 *       [--only REGEX] [--keep-going]
 *
 * The namespace is made on both with the account that pods need. Works with any kubectl; the
 * servers run without controllers.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Command, commands, explained, manifests } from './kubectl-commands.ts'
import { Random } from './random.ts'
import { tableKinds } from './table-objects.ts'

interface Said {
  readonly code: number | string
  readonly out: string
  readonly err: string
}

const commandTimeoutMs = 60_000
const { values } = parseArgs({
  options: {
    peer: { type: 'string' },
    ours: { type: 'string' },
    kubectl: { type: 'string', default: 'kubectl' },
    only: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
  },
})
if (values.peer === undefined || values.ours === undefined) {
  throw new Error('say --peer URL (the real server) and --ours URL (this one)')
}
const only = values.only === undefined ? undefined : new RegExp(values.only)
const folder = mkdtempSync(join(tmpdir(), 'kubectl-walk-'))
const namespace = `w${Date.now().toString(36)}`

/** Definitions and their like live a life of their own in the servers. */
const leftOut = new Set([
  'APIService',
  'CustomResourceDefinition',
  'Namespace',
  'Event',
  'FlowSchema',
])

/** One object of every kind of the newest release, named `x`. */
function objects() {
  const random = new Random(7)
  const now = Date.now()
  const all = tableKinds.filter(
    ({ kind, versions }) => !leftOut.has(kind) && !versions[0]?.startsWith('extensions/'),
  )
  const first = all.filter(({ kind }, i) => all.findIndex((one) => one.kind === kind) === i)
  return first.map(({ kind, versions, body }) => ({
    apiVersion: versions[0],
    kind,
    metadata: { name: 'x', labels: { app: 'web', walk: namespace } },
    ...body(random, now),
  }))
}

async function resourcesOf(server: string): Promise<Map<string, string>> {
  const { out } = await run(server, ['api-resources', '--no-headers'])
  const found = new Map<string, string>()
  for (const line of out.split('\n').filter(Boolean)) {
    const words = line.split(/\s+/)
    const kind = words.at(-1) as string
    if (!found.has(kind)) found.set(kind, `${words[0]} ${words.at(-2)}`)
  }
  return found
}

function run(server: string, args: readonly string[]): Promise<Said> {
  const home = join(folder, new URL(server).port)
  const reach = [`--server=${server}`, '--token=admin-token', '--insecure-skip-tls-verify']
  const config = { HOME: home, KUBECONFIG: join(folder, 'config') }
  const env = { ...process.env, ...config, KUBE_EDITOR: 'sed -i -e s/edit-me/edited/' }
  const options = { env, timeout: commandTimeoutMs, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    execFile(values.kubectl, [...reach, ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err }),
    )
  })
}

/** What no two servers have in common. */
const masks: readonly [RegExp, string][] = [
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\d{4}-\d\d-\d\d [\d:]+ \+0000 UTC/g, '<time>'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+\d{4}/g, '<time>'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '$1'],
  [/\t\d{4}-\d\d-\d\d [\d:.]+ \+\d{4}$/gm, ''],
  [/[EIWF]\d{4} [\d:.]+ +\d+ /g, '<log> '],
  [/(resourceVersion\\*"?: ?\\*"?)\d+/g, '$1<rv>'],
  [/(Resource ?Version: +)\d+/g, '$1<rv>'],
  [/(Forbidden: pod updates may not change)[\s\S]*?(?=Error from server|$)/g, '$1 <diff>'],
  [/core\.PodTemplateSpec\{.*\}(?=: field is immutable)/g, '<template>'],
  [/\b10\.0\.\d+\.\d+\b/g, '<ip>'],
  [/\b3[0-2]\d{3}\b/g, '<port>'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<rand>'],
  [/(?<=[ (])(<invalid>|(\d+[smhdy]){1,2})(?=[ )\n]|$)/gm, '<age>'],
  [/ +$/gm, ''],
]
const isProse = /^(DESCRIPTION|KIND|VERSION|FIELDS|RESOURCE|FIELD|GROUP)\b/

/** How a newer client words an explanation, and an older one does. */
const newerExplained: readonly [RegExp, string][] = [
  [/ -required-$/, ''],
  [/^(VERSION: +)\S+\//, '$1'],
  [/^(RESOURCE|FIELD): +/, 'FIELD: '],
  [/<(\[\])?(IntOrString|Quantity|Time|MicroTime|Duration)>/, '<$1string>'],
  [/<(\[\])?(FieldsV1|RawExtension|Fields)>/, '<$1map[string]>'],
  [/<(\[\])?[A-Z]\w*>/, '<$1Object>'],
]

/** Of an explanation only names and types count. */
const withoutProse = (text: string): string =>
  text
    .split('\n')
    .filter((line) => isProse.test(line) || /^ *\S+\s+<[^>]+>( -required-)?$/.test(line))
    // Newer clients print types and groups if the server describes them by OpenAPI 3.
    .filter((line) => !line.startsWith('GROUP:'))
    .map((line) => newerExplained.reduce((rest, [what, by]) => rest.replace(what, by), line))
    // Clients sort fields differently.
    .sort()
    .join('\n')

function comparable({ code, out, err }: Said, args: readonly string[]): string[] {
  const mask = (text: string) => masks.reduce((rest, [what, by]) => rest.replace(what, by), text)
  // A newer client prints what it looks at before it finds out that there is no such field.
  const explained = code === 0 ? withoutProse(out) : ''
  const shown = args[0] === 'explain' ? explained : out
  // Columns are as wide as their widest cell, which may be an age.
  const text = `${mask(shown)}\n--- ${code}\n${mask(err)}`.replace(/ {2,}/g, '  ')
  return text.split('\n').filter((line) => !/DiscoveryClient|throttl/i.test(line))
}

function firstDifference(peer: readonly string[], ours: readonly string[]): string[] {
  const shown: string[] = []
  for (let i = 0; i < Math.max(peer.length, ours.length) && shown.length < 12; i++) {
    if (peer[i] === ours[i]) continue
    shown.push(`    peer ${i}: ${peer[i]}`, `    ours ${i}: ${ours[i]}`)
  }
  return shown
}

async function main(): Promise<number> {
  const [peer, ours] = [values.peer as string, values.ours as string]
  const both = (args: readonly string[]) => Promise.all([run(peer, args), run(ours, args)])
  writeFileSync(join(folder, 'config'), '')
  const known = await resourcesOf(peer)
  const made = objects().filter(({ kind }) => known.has(kind))
  const clusterWide = (kind: string) => known.get(kind)?.endsWith('false')
  const named = made.map((object) =>
    clusterWide(object.kind)
      ? { ...object, metadata: { ...object.metadata, name: `${namespace}-x` } }
      : object,
  )
  const request = named.find(({ kind }) => kind === 'CertificateSigningRequest')
  const second = request && {
    ...request,
    metadata: { ...request.metadata, name: `${namespace}-y` },
  }
  const all = join(folder, 'all.json')
  const items = second === undefined ? named : [...named, second]
  writeFileSync(all, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  for (const [name, objects] of Object.entries(manifests)) {
    const list = { apiVersion: 'v1', kind: 'List', items: objects }
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(list))
  }
  const kinds = made.map(({ kind }) => known.get(kind)?.split(' ')[0]).join(',')
  await both(['create', 'namespace', namespace])
  await both(['-n', namespace, 'create', 'serviceaccount', 'default'])
  let different = 0
  let asked = 0
  const rows: Command[] = [...commands, ...explained(made.map(({ kind }) => kind.toLowerCase()))]
  for (const row of rows) {
    const words = (typeof row === 'string' ? row.split(' ') : row).map((word) =>
      word
        .replaceAll('{ns}', namespace)
        .replace('{all}', all)
        .replace('{kinds}', kinds)
        .replace(/\{file:(\w+)\}/, (_, name: string) => join(folder, `${name}.json`)),
    )
    const title = words.join(' ').replaceAll(kinds, '{kinds}')
    if (only !== undefined && !only.test(title)) continue
    const said = await both([...(words[0] === 'explain' ? [] : ['-n', namespace]), ...words])
    const [want, got] = said.map((one) => comparable(one, words)) as [string[], string[]]
    asked++
    const shown = firstDifference(want, got)
    if (shown.length === 0) continue
    different++
    console.log(`kubectl ${title}\n${shown.join('\n')}`)
    if (!values['keep-going']) break
  }
  await both(['delete', 'namespace', namespace, '--wait=false'])
  rmSync(folder, { recursive: true, force: true })
  console.log(`${asked} commands, ${different} answered differently`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
