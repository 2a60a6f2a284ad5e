/**
 * /statusz and /flagz: the version, uptime and flags of this process. The default is text. Clients
 * that accept a kind of config.k8s.io get it as JSON, YAML or CBOR.
 */
import { headerText } from '#access/authenticate/header-values.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import { notAcceptable } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { type AcceptClause, parseAccept } from '#codec/accept-header.ts'
import { encodeJson } from '#codec/json.ts'
import { mediaTypes, wantsPretty } from '#codec/media-type.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'

export type Zpage = 'statusz' | 'flagz'

export interface ZpagesParts {
  readonly release: number
  /** The pages whose feature gates are enabled. */
  readonly served: readonly Zpage[]
  readonly goVersion: string
  /** The version of the running server with its patch: '1.37.0'. */
  readonly binaryVersion: string
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
  readonly nowMs: () => number
  /** Between 0 and 1. */
  readonly random: () => number
  /** All served paths. */
  readonly paths: () => readonly string[]
  /** The flags and their values. */
  readonly flags: () => Readonly<Record<string, string>>
}

const servesBeta = change('/statusz and /flagz are served as config.k8s.io/v1beta1', { since: 36 })

const loadCbor = loadLater<typeof import('#http/response/cbor-shapes.ts')>(
  import.meta.url,
  '#http/response/cbor-shapes',
)

const component = 'apiserver'
const group = 'config.k8s.io'
const kinds: Readonly<Record<Zpage, string>> = { statusz: 'Statusz', flagz: 'Flagz' }
const textType = 'text/plain; charset=utf-8'
const formats = [
  { type: 'application', subtype: 'json' },
  { type: 'application', subtype: 'yaml' },
  { type: 'text', subtype: 'plain' },
] as const
const formatsWithCbor = [...formats, { type: 'application', subtype: 'cbor' }] as const

/** The negotiated representation: text, or an object of a version in a format. */
type Wanted =
  | { readonly is: 'text' }
  | { readonly is: 'object'; readonly format: 'json' | 'yaml' | 'cbor'; readonly version: string }

export function zpagesPaths(parts: ZpagesParts): PathHandler {
  const pageOf = (path: string) => parts.served.find((page) => path === `/${page}`)
  return {
    matches: (path) => pageOf(path) !== undefined,
    handle(exchange) {
      const page = pageOf(exchange.target.path) as Zpage
      const wanted = wantedPage(exchange, page, parts.release)
      if (wanted.is === 'text') {
        const lines = page === 'statusz' ? statusText(parts) : flagsText(parts)
        return send(exchange, 200, { contentType: textType }, Buffer.from(lines))
      }
      return sendObject(exchange, parts, page, wanted)
    },
  }
}

function sendObject(
  exchange: Exchange,
  parts: ZpagesParts,
  page: Zpage,
  { format, version }: Wanted & { is: 'object' },
): void | Promise<void> {
  if (version === 'v1alpha1' && versionsOf(parts.release).length > 1)
    exchange.warnings.push(
      `This version of the ${page} endpoint is deprecated. Please use a newer version.`,
    )
  const value = {
    kind: kinds[page],
    apiVersion: `${group}/${version}`,
    metadata: { name: component },
    ...(page === 'statusz' ? statusOf(parts) : { flags: parts.flags() }),
  }
  const contentType = `${mediaTypes[format]};g=${group};v=${version};as=${kinds[page]}`
  const agent = headerText(exchange.wire.headers['user-agent'])
  const pretty = wantsPretty(exchange.query.get('pretty'), agent)
  return send(exchange, 200, { contentType }, encoded(value, format, pretty))
}

function encoded(value: Loose, format: 'json' | 'yaml' | 'cbor', pretty: boolean): Buffer {
  if (format === 'cbor') return loadCbor().cborValue(value)
  return format === 'json' ? encodeJson(value, pretty) : encodeYaml(value)
}

const versionsOf = (release: number): readonly string[] =>
  releaseOf(release).has(servesBeta) ? ['v1alpha1', 'v1beta1'] : ['v1alpha1']

/** Throws 406. */
function wantedPage({ wire, acceptRules }: Exchange, page: Zpage, release: number): Wanted {
  const accept = headerText(wire.headers.accept)
  const offered = acceptRules === 'with CBOR' ? formatsWithCbor : formats
  if (accept.trim() === '') return { is: 'text' }
  for (const clause of parseAccept(accept))
    for (const { type, subtype } of offered) {
      if (!matches(clause, type, subtype)) continue
      const { as, g, v, stream, sv } = clause.parameters
      if (stream || sv) continue
      const isPlain = as === undefined && g === undefined && v === undefined
      if (subtype === 'plain') {
        if (isPlain) return { is: 'text' }
        continue
      }
      if (as !== kinds[page] || g !== group || !versionsOf(release).includes(v ?? '')) continue
      return { is: 'object', format: subtype, version: v as string }
    }
  const types = offered.map(({ type, subtype }) => `${type}/${subtype}`)
  throw notAcceptable(`only the following media types are accepted: ${types.join(', ')}`)
}

const matches = (clause: AcceptClause, type: string, subtype: string): boolean =>
  clause.type === '*'
    ? clause.subtype === '*'
    : clause.type === type && (clause.subtype === '*' || clause.subtype === subtype)

interface Status {
  readonly startTime: string
  readonly uptimeSeconds: number
  readonly goVersion: string
  readonly binaryVersion: string
  readonly emulationVersion: string
  readonly paths: readonly string[]
}

function statusOf(parts: ZpagesParts): Status {
  const { release, goVersion, binaryVersion, startedAtMs, nowMs, paths } = parts
  return {
    startTime: `${new Date(startedAtMs).toISOString().slice(0, 19)}Z`,
    uptimeSeconds: Math.max(0, Math.floor((nowMs() - startedAtMs) / 1000)),
    goVersion,
    binaryVersion,
    emulationVersion: `1.${release}`,
    paths: debuggingPaths(paths()),
  }
}

/** API paths are omitted, because they do not help with debugging. */
const otherPaths = new Set(['', 'apis', 'api', 'openid', 'openapi', '.well-known'])

/** The first segment of each path: `/healthz` for `/healthz/ping`. */
function debuggingPaths(paths: readonly string[]): string[] {
  const first = paths.map((path) => path.split('/')[1] ?? '')
  return [...new Set(first.filter((part) => !otherPaths.has(part)))]
    .sort()
    .map((part) => `/${part}`)
}

const caution =
  'This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees ' +
  'and is for debugging purposes only.'
const headline = (page: Zpage) => `\n${component} ${page}\nWarning: ${caution}\n`

/** The separator is random, so that programs do not rely on the format. */
const separators = [':', ': ', '=', ' ']
const separatorOf = ({ random }: ZpagesParts): string =>
  separators[Math.floor(random() * separators.length)] as string

function statusText(parts: ZpagesParts): string {
  const by = separatorOf(parts)
  const { uptimeSeconds: up, goVersion, binaryVersion, emulationVersion, paths } = statusOf(parts)
  const two = (number: number) => String(number).padStart(2, '0')
  const uptime = `${Math.floor(up / 3600)} hr ${two(Math.floor(up / 60) % 60)} min ${two(up % 60)} sec`
  const rows: [string, string][] = [
    ['Started', unixDate(parts.startedAtMs)],
    ['Up', uptime],
    ['Go version', goVersion],
    ['Binary version', binaryVersion],
    ['Emulation version', emulationVersion],
    ['Paths', paths.join(' ')],
  ]
  const lines = rows.map(([name, value]) => `${name}${by} ${value}`)
  return `${headline('statusz')}\n${lines.join('\n')}\n`
}

/** In the format of the Unix command `date`: `Thu Nov 19 13:18:13 UTC 2026`. */
function unixDate(ms: number): string {
  const [weekday, day = '', month, year, time] = new Date(ms).toUTCString().split(/,? /)
  return `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} UTC ${year}`
}

function flagsText(parts: ZpagesParts): string {
  const by = separatorOf(parts)
  const flags = Object.entries(parts.flags()).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${headline('flagz')}${flags.map(([name, value]) => `${name}${by}${value}\n`).join('')}`
}
