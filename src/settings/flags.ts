/**
 * Parses the command line into one typed `Settings`, using the flag table. The syntax is that of
 * kube-apiserver: `--name=value`, `--name value`, `--name` for a boolean, and lists separated by
 * commas or by repetition. A flag is an error of one line if it is unknown, has an invalid value,
 * or has no effect. No flag is ignored silently. Parsing has no side effects.
 */
import { resolve } from 'node:path'
import { releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import { type FlagName, type FlagTable, flagTable } from './flag-table.ts'
import { releasesOf, type Row } from './flag-row.ts'
import type { PortRange } from './flag-value.ts'
import { nearest } from './nearest.ts'

const loadPattern = loadLater<typeof import('#schema/structural/pattern.ts')>(
  import.meta.url,
  '#schema/structural/pattern',
)
const loadDeprecated = loadLater<typeof import('./deprecated-flags.ts')>(
  import.meta.url,
  './deprecated-flags',
)
const loadUnread = loadLater<typeof import('./unread-flags.ts')>(import.meta.url, './unread-flags')
const loadPolicy = loadLater<typeof import('./tls-policy.ts')>(import.meta.url, './tls-policy')

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type UnitOf<R> = R extends Row<unknown, infer Unit> ? Unit : never
type ValueOf<R> = R extends Row<infer Value, string> ? Value : never

/**
 * One property per flag: its name in camel case, with the unit if the value is a number with a
 * unit.
 */
export type FlagSettings = {
  readonly [Name in FlagName as `${Camel<Name>}${UnitOf<FlagTable[Name]>}`]: ValueOf<
    FlagTable[Name]
  >
}

export type Settings = FlagSettings & {
  /** The names of the flags on the command line. */
  readonly givenFlags: ReadonlySet<string>
}

export interface Parsed {
  readonly settings: Settings
  /** The names of the flags on the command line. */
  readonly given: ReadonlySet<string>
  /** Warnings, for example about flags that the release deprecates. */
  readonly warnings: readonly string[]
}
export type ParseResult = Parsed | { readonly error: string }

export type Rows = ReadonlyMap<string, Row<unknown>>
export const flagRows: Rows = new Map(Object.entries(flagTable))

/** The name of a flag's setting: `request-timeout` → `requestTimeoutMs`. */
export function settingName(name: string): string {
  const camel = name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  return camel + (flagRows.get(name)?.shape.unit ?? '')
}

/** The minor version of a release: 22 for `1.22`. */
export const releaseNumber = (release: string) => Number(release.split('.')[1])

export const isInRelease = ({ only }: Row<unknown>, release: string): boolean =>
  only === undefined || releaseOf(releaseNumber(release)).has(only)

const refuse = (error: string) => ({ error })

function unknownFlag(rows: Rows, name: string, release: string): { error: string } {
  const known = [...rows].filter(([, row]) => isInRelease(row, release)).map(([known]) => known)
  const close = nearest(name, known)
  const hint = close === undefined ? '' : ` (did you mean --${close}?)`
  const row = rows.get(name)
  if (row === undefined) return refuse(`unknown flag: --${name}${hint}; --help=all lists them all`)
  return refuse(
    `unknown flag: --${name}: release ${release} does not have it (${releasesOf(row)}; see --emulated-version)`,
  )
}

interface Use {
  name: string
  value: string | undefined
}

/** Whether the flag may stand without a value: true for booleans and unknown flags. */
function standsAlone(rows: Rows, name: string): boolean {
  const row = rows.get(name)
  if (row !== undefined) return row.shape.word === ''
  return loadUnread().unreadFlags.get(name)?.isSwitch !== false
}

/** Splits the command line into flags and values, without validating either. */
function usesOf(rows: Rows, argv: readonly string[]): Use[] | { error: string } {
  const uses: Use[] = []
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string
    const [, dashes, stated = '', equals] = /^(-{0,2})([^=]*)(=?)/s.exec(arg) ?? []
    if (dashes === '' || stated === '')
      return refuse(`unexpected argument ${JSON.stringify(arg)}: flags begin with --`)
    const name = stated.replaceAll('_', '-')
    if (dashes === '-' && name !== 'v') return refuse(`unknown flag: ${arg}: flags begin with --`)
    if (equals === '=') uses.push({ name, value: arg.slice(arg.indexOf('=') + 1) })
    else if (standsAlone(rows, name)) uses.push({ name, value: undefined })
    else {
      if (i + 1 >= argv.length)
        return refuse(`--${name} needs a value: ${rows.get(name)?.shape.accepts ?? 'text'}`)
      uses.push({ name, value: argv[++i] as string })
    }
  }
  return uses
}

const hourMs = 3_600_000

/**
 * Validates durations of leader election. The factor 1.2 is client-go's jitter of the retry period.
 */
function durationProblem(values: ReadonlyMap<string, unknown>): string | undefined {
  const ms = (name: string) => values.get(name) as number
  const [lease, deadline, retry] = ['lease-duration', 'renew-deadline', 'retry-period'].map(
    (name) => `leader-elect-${name}`,
  ) as [string, string, string]
  if (ms(lease) <= ms(deadline)) return `--${lease} must be greater than --${deadline}`
  if (ms(deadline) <= 1.2 * ms(retry)) return `--${deadline} must be greater than 1.2 × --${retry}`
  if (ms(retry) === 0) return `--${retry} must be greater than zero`
  const life = ms('service-account-max-token-expiration')
  return life === 0 || (life >= hourMs && life <= 2 ** 32 * 1000)
    ? undefined
    : '--service-account-max-token-expiration must be between 1 hour and 2^32 seconds, or 0'
}

/** Rules that concern several flags. */
function together(values: Map<string, unknown>, given: ReadonlySet<string>): string | undefined {
  const pairs: [string, string][] = [
    ['tls-cert-file', 'tls-private-key-file'],
    ['etcd-certfile', 'etcd-keyfile'],
    ['kubelet-client-certificate', 'kubelet-client-key'],
    ['proxy-client-cert-file', 'proxy-client-key-file'],
    ['oidc-issuer-url', 'oidc-client-id'],
  ]
  for (const [one, other] of pairs)
    if (given.has(one) !== given.has(other))
      return given.has(one)
        ? `--${one} needs --${other} as well`
        : `--${other} needs --${one} as well`
  const needs: [string, string][] = [
    ['ABAC', 'authorization-policy-file'],
    ['Webhook', 'authorization-webhook-config-file'],
  ]
  const modes = values.get('authorization-mode') as readonly string[]
  for (const [mode, flag] of needs)
    if (modes.includes(mode) !== given.has(flag))
      return given.has(flag)
        ? `--${flag} goes with --authorization-mode=${mode}`
        : `--authorization-mode with ${mode} needs --${flag}`
  const instead = [
    ['authorization-config', 'authorization-mode', /^authorization-(mode|webhook-|policy)/],
    ['authentication-config', 'oidc-*', /^oidc-/],
  ] as const
  for (const [config, shown, older] of instead) {
    if (given.has(config) && [...given].some((flag) => older.test(flag)))
      return `--${config} replaces --${shown}: give one of them`
  }
  const suites = values.get('tls-cipher-suites') as readonly string[]
  if (suites.length > 0) {
    const problem = loadPolicy().tlsProblem(suites, values.get('tls-min-version') as string)
    if (problem !== undefined) return problem
  }
  for (const origin of values.get('cors-allowed-origins') as readonly string[]) {
    const problem = loadPattern().patternProblem(origin)
    if (problem !== undefined)
      return `--cors-allowed-origins: ${JSON.stringify(origin)} is not accepted: it wants a regular expression: ${problem}`
  }
  if (given.has('admission-control'))
    for (const flag of ['enable-admission-plugins', 'disable-admission-plugins'])
      if (given.has(flag)) return `--admission-control does not go with --${flag}`
  const nodePort = values.get('kubernetes-service-node-port') as number
  const { first, last } = values.get('service-node-port-range') as PortRange
  if (nodePort !== 0 && (nodePort < first || nodePort > last))
    return `--kubernetes-service-node-port: ${nodePort} is not of --service-node-port-range, ${first}-${last}`
  const servers = values.get('etcd-servers') as readonly string[]
  const backend = values.get('storage-backend') as string
  if (backend === 'etcd3' && servers.length === 0)
    return '--storage-backend=etcd3 needs --etcd-servers'
  if (backend !== 'etcd3' && servers.length > 0)
    return `--etcd-servers goes with --storage-backend=etcd3, not ${backend}`
  if (backend !== 'etcd3' && given.has('cluster-secret-file'))
    return `--cluster-secret-file goes with --etcd-servers: with ${backend} a cluster has one server`
  if (backend === 'memory' && (values.get('backup-interval') as number) > 0)
    return '--backup-interval does not go with --storage-backend=memory'
  return durationProblem(values)
}

export function parseFlags(argv: readonly string[], rows: Rows = flagRows): ParseResult {
  const uses = usesOf(rows, argv)
  if ('error' in uses) return uses
  const requested = uses.findLast((use) => use.name === 'emulated-version')?.value ?? ''
  const { shape, initial } = flagTable['emulated-version']
  const release = shape.read(requested, undefined) ?? initial
  const values = new Map<string, unknown>([...rows].map(([name, row]) => [name, row.initial]))
  const given = new Set<string>()
  for (const { name, value = 'true' } of uses) {
    const row = rows.get(name)
    const unread = row === undefined ? loadUnread().unreadFlags.get(name) : undefined
    if (unread !== undefined) {
      const problem = loadUnread().unreadProblem(name, unread, value)
      if (problem !== undefined) return refuse(problem)
      continue
    }
    if (row === undefined || !isInRelease(row, release)) return unknownFlag(rows, name, release)
    const read = row.shape.read(value, given.has(name) ? values.get(name) : undefined)
    if (read === undefined)
      return refuse(
        `--${name}: ${JSON.stringify(value)} is not accepted: it wants ${row.shape.accepts}`,
      )
    if (row.status === 'unwired')
      return refuse(`--${name} has no effect in this version of binnacle: leave it out`)
    values.set(name, read)
    given.add(name)
  }
  if (given.has('etcd-servers') && !given.has('storage-backend'))
    values.set('storage-backend', 'etcd3')
  // Without SQLite the data directory contains only certificates and a kubeconfig, so it defaults
  // to --cert-dir.
  const keepsFiles = values.get('storage-backend') === 'sqlite'
  if (!keepsFiles && given.has('cert-dir') && !given.has('data-dir'))
    values.set('data-dir', values.get('cert-dir'))
  values.set('data-dir', resolve(values.get('data-dir') as string))
  const error = together(values, given)
  if (error !== undefined) return refuse(error)
  const settings = {
    ...Object.fromEntries([...values].map(([name, value]) => [settingName(name), value])),
    givenFlags: given,
  }
  const names = new Set(uses.map(({ name }) => name))
  const minor = releaseNumber(release)
  const warnings = [...names].map((name) => loadDeprecated().flagWarning(name, minor))
  return {
    settings: settings as unknown as Settings,
    given,
    warnings: warnings.filter((warning) => warning !== undefined),
  }
}
