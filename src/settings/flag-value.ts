/**
 * The types of flag values. A type parses the text, describes accepted values and formats the
 * default. Types do not depend on a flag. They access the file system only to check that a file is
 * readable.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { formatDuration, parseDuration } from '#api/duration.ts'
import { type Cidr, isIp, parseCidr } from '#api/ip-address.ts'

export interface FlagType<T, Unit extends string = ''> {
  /** Describes accepted values, for errors of the form "wants …": `a number from 1 to 65535`. */
  readonly accepts: string
  /** The placeholder in the help, as in `--secure-port=NUMBER`. Empty for booleans. */
  readonly word: string
  /** Suffix of the setting's name that states the unit of a number: requestTimeout + Ms. */
  readonly unit: Unit
  /**
   * Parses the text. Undefined if it is invalid. `before` is the value of an earlier use of the
   * same flag.
   */
  read(text: string, before: T | undefined): T | undefined
  /** The value as a user would type it; empty if there is nothing to show. */
  show(value: T): string
}

export const text: FlagType<string> = {
  accepts: 'text',
  word: 'TEXT',
  unit: '',
  read: (given) => given,
  show: (value) => value,
}

/** A key prefix, normalised to start with one slash and to end without a slash. */
export const keyPrefix: FlagType<string> = {
  ...text,
  read: (given) => posix.join('/', given).replace(/\/$/, ''),
}

const truth = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
])

export const bool: FlagType<boolean> = {
  accepts: 'true or false',
  word: '',
  unit: '',
  read: (given) => truth.get(given),
  show: String,
}

export function whole<Unit extends string = ''>(
  from: number,
  to: number,
  unit = '' as Unit,
): FlagType<number, Unit> {
  const limits = to === Number.MAX_SAFE_INTEGER ? `${from} or greater` : `from ${from} to ${to}`
  return {
    accepts: `a whole number, ${limits}`,
    word: 'NUMBER',
    unit,
    read(given) {
      if (!/^[+-]?\d+$/.test(given)) return undefined
      const value = Number(given)
      return value >= from && value <= to ? value : undefined
    },
    show: String,
  }
}

export const count = whole(0, Number.MAX_SAFE_INTEGER)
export const positive = whole(1, Number.MAX_SAFE_INTEGER)
export const seconds = whole(0, Number.MAX_SAFE_INTEGER, 'Seconds')
export const port = whole(0, 65_535)

/** A probability from 0 to 1. */
export const chance: FlagType<number> = {
  accepts: 'a number from 0 to 1, such as 0.001',
  word: 'NUMBER',
  unit: '',
  read: (given) =>
    /^(\d+\.?\d*|\.\d+)$/.test(given) && Number(given) <= 1 ? Number(given) : undefined,
  show: String,
}

/** A rate per second. */
export const rate: FlagType<number> = {
  accepts: 'a number, 0 or greater, such as 0.5',
  word: 'NUMBER',
  unit: '',
  read: (given) => (/^(\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : undefined),
  show: String,
}

const nanosPerMs = 1_000_000

export const duration: FlagType<number, 'Ms'> = {
  accepts: 'a duration such as 300ms, 45s or 1h30m',
  word: 'DURATION',
  unit: 'Ms',
  read(given) {
    const nanos = parseDuration(given)
    return nanos !== undefined && nanos >= 0n ? Number(nanos) / nanosPerMs : undefined
  },
  show: (ms) => formatDuration(BigInt(Math.round(ms * nanosPerMs))),
}

export function choice<const T extends string>(...values: readonly T[]): FlagType<T> {
  return {
    accepts: `one of ${values.join(', ')}`,
    word: values.join('|'),
    unit: '',
    read: (given) => values.find((value) => value === given),
    show: (value) => value,
  }
}

const nonEmptyParts = (given: string) => (given === '' ? [] : given.split(','))

/** Values separated by commas. Repetition of the flag adds values. */
export function list(
  accepts = 'values separated by commas',
  word = 'A,B',
): FlagType<readonly string[]> {
  return {
    accepts,
    word,
    unit: '',
    read: (given, before) => [...(before ?? []), ...nonEmptyParts(given)],
    show: (value) => value.join(','),
  }
}

/** The directives of one Strict-Transport-Security header. */
export const directives: FlagType<readonly string[]> = {
  ...list('directives separated by commas, such as max-age=31536000,includeSubDomains,preload'),
  read: (given, before) =>
    nonEmptyParts(given).every((part) =>
      /^(max-age=[\x21-\x3c\x3e-\x7e]*|includeSubDomains|preload)$/.test(part),
    )
      ? [...(before ?? []), ...nonEmptyParts(given)]
      : undefined,
}

/** A list of known values, separated by commas, each at most once. */
export function choices<const T extends string>(...values: readonly T[]): FlagType<readonly T[]> {
  return {
    accepts: `one or more of ${values.join(', ')}, separated by commas`,
    word: 'A,B',
    unit: '',
    read(given, before) {
      const all = [...(before ?? []), ...nonEmptyParts(given)] as T[]
      const known = all.every((value) => values.includes(value))
      return known && all.length > 0 && new Set(all).size === all.length ? all : undefined
    },
    show: (value) => value.join(','),
  }
}

/** Each use of the flag adds one value. Commas are part of the value. */
export const repeated: FlagType<readonly string[]> = {
  accepts: 'text; the flag may be given several times',
  word: 'TEXT',
  unit: '',
  read: (given, before) => (given === '' ? undefined : [...(before ?? []), given]),
  show: (value) => value.join(','),
}

/** KEY=VALUE pairs separated by commas. Repetition of the flag adds pairs. */
export function pairs(
  accepts: string,
  valueWhenOmitted?: string,
): FlagType<ReadonlyMap<string, string>> {
  return {
    accepts,
    word: 'KEY=VALUE,…',
    unit: '',
    read(given, before) {
      const all = new Map(before ?? [])
      for (const part of nonEmptyParts(given)) {
        const at = part.indexOf('=')
        const key = (at < 0 ? part : part.slice(0, at)).trim()
        const value = at < 0 ? valueWhenOmitted : part.slice(at + 1).trim()
        if (key === '' || value === undefined) return undefined
        all.set(key, value)
      }
      return all
    },
    show: (value) => [...value].map(([key, stated]) => `${key}=${stated}`).join(','),
  }
}

/** RESOURCE#SIZE pairs. */
export const sizes: FlagType<ReadonlyMap<string, number>> = {
  accepts: 'sizes such as pods#1000,deployments.apps#0, each 0 or greater',
  word: 'RESOURCE[.GROUP]#SIZE,…',
  unit: '',
  read(given, before) {
    const all = new Map(before ?? [])
    for (const part of nonEmptyParts(given)) {
      const [, name, size] = /^([^#]*)#\+?(\d+)$/.exec(part) ?? []
      if (name === undefined) return undefined
      all.set(name, Number(size))
    }
    return all
  },
  show: (value) => [...value].map(([name, size]) => `${name}#${size}`).join(','),
}

type LabelValues = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

/**
 * METRIC,LABEL=VALUE,… by metric and label. If there are several, each is in double quotes, because
 * they contain commas.
 */
export const labelValues: FlagType<LabelValues> = {
  accepts:
    'a metric, its label and values such as some_total,verb=GET,PUT, or several of those, each in double quotes and separated by commas',
  word: 'METRIC,LABEL=VALUE,…',
  unit: '',
  read(given, before) {
    const all = new Map(before)
    const isOne = given.split('=').length === 2
    const parts = isOne ? [given.replace(/^"|"$/g, '')] : given.match(/"[^"]*"|[^",]+/g)
    if (parts === null) return undefined
    for (const part of parts) {
      const [, metric, label, values] =
        /^"?([a-zA-Z_:][\w:]*),([a-zA-Z_]\w*)=([^"]*)"?$/.exec(part) ?? []
      if (metric === undefined || label === undefined || values === undefined) return undefined
      all.set(metric, new Map(all.get(metric)).set(label, new Set(values.split(','))))
    }
    return all
  },
  show: () => '',
}

/** KEY=true or KEY=false pairs. */
export const switches: FlagType<ReadonlyMap<string, boolean>> = {
  accepts: 'pairs such as Name=true,Other=false',
  word: 'NAME=BOOL,…',
  unit: '',
  read(given, before) {
    const all = new Map(before ?? [])
    for (const part of nonEmptyParts(given)) {
      const [, key, stated] = /^\s*([^=]+?)\s*=\s*(\S+)\s*$/.exec(part) ?? []
      const value = truth.get(stated ?? '')
      if (key === undefined || value === undefined) return undefined
      all.set(key, value)
    }
    return all
  },
  show: (value) => [...value].map(([key, stated]) => `${key}=${stated}`).join(','),
}

export const address: FlagType<string> = {
  accepts: 'an IP address',
  word: 'IP',
  unit: '',
  read: (given) => (isIp(given) ? given : undefined),
  show: (value) => value,
}

/** A host with or without a port. */
export const hostName: FlagType<string> = {
  accepts:
    'the name or the address of a host, with a port or without, such as api.example.com:6443',
  word: 'HOST',
  unit: '',
  read: (given) => (/^[\w.:[\]-]+$/.test(given) ? given : undefined),
  show: (value) => value,
}

/**
 * Limits of the size of service CIDRs: small enough to count free addresses, large enough for a few
 * services.
 */
const serviceBlockBitsMax = 20
const serviceBlockBitsMin = 3

function serviceBlock(given: string): Cidr | undefined {
  const cidr = parseCidr(given)
  if (cidr === undefined) return undefined
  const hostBits = cidr.bits - cidr.ones
  return hostBits >= serviceBlockBitsMin && hostBits <= serviceBlockBitsMax ? cidr : undefined
}

export const serviceBlocks: FlagType<readonly string[]> = {
  accepts:
    'a block of addresses such as 10.0.0.0/16 (at most a /12 of IPv4 or a /108 of IPv6), or two, one of each family, separated by a comma',
  word: 'CIDR[,CIDR]',
  unit: '',
  read(given) {
    const blocks = given.split(',').map((part) => part.trim())
    if (blocks.length > 2 || blocks.some((block) => serviceBlock(block) === undefined))
      return undefined
    const families = new Set(blocks.map((block) => block.includes(':')))
    return families.size === blocks.length ? blocks : undefined
  },
  show: (value) => value.join(','),
}

export interface PortRange {
  readonly first: number
  readonly last: number
}

export const portRange: FlagType<PortRange> = {
  accepts: 'two ports from 1 to 65535 such as 30000-32767, both included',
  word: 'FROM-TO',
  unit: '',
  read(given) {
    const [, from, plus, to] = /^(\d+)(?:([-+])(\d+))?$/.exec(given) ?? []
    if (from === undefined) return undefined
    const first = Number(from)
    const last = to === undefined ? first : plus === '+' ? first + Number(to) : Number(to)
    return first >= 1 && last >= first && last <= 65_535 ? { first, last } : undefined
  },
  show: ({ first, last }) => `${first}-${last}`,
}

export const url: FlagType<string> = {
  accepts: 'an https:// URL',
  word: 'URL',
  unit: '',
  read: (given) =>
    URL.canParse(given) && new URL(given).protocol === 'https:' ? given : undefined,
  show: (value) => value,
}

/** etcd addresses, each with its scheme. */
export const etcdUrls: FlagType<readonly string[]> = {
  accepts: 'URLs such as http://127.0.0.1:2379, separated by commas',
  word: 'URL,…',
  unit: '',
  read(given, before) {
    const all = nonEmptyParts(given)
    const good = all.every((part) => URL.canParse(part) && /^https?:\/\/./.test(part))
    return good && all.length > 0 ? [...(before ?? []), ...all] : undefined
  },
  show: (value) => value.join(','),
}

/** A path, made absolute. It need not exist. */
export const path: FlagType<string> = {
  accepts: 'a path',
  word: 'PATH',
  unit: '',
  read: (given) => (given === '' ? undefined : resolve(given)),
  show: (value) => value,
}

function readable(given: string): boolean {
  try {
    accessSync(given, constants.R_OK)
    return statSync(given).isFile()
  } catch {
    return false
  }
}

/** A file that exists and is readable. */
export const file: FlagType<string> = {
  accepts: 'a file that can be read',
  word: 'FILE',
  unit: '',
  read: (given) => (readable(given) ? resolve(given) : undefined),
  show: (value) => value,
}

/** Each use of the flag adds one readable file. */
export const files: FlagType<readonly string[]> = {
  accepts: 'a file that can be read; the flag may be given several times',
  word: 'FILE',
  unit: '',
  read: (given, before) => (readable(given) ? [...(before ?? []), resolve(given)] : undefined),
  show: (value) => value.join(','),
}

/** A certificate, its key, and the server names for which it is used. */
export interface NamedFiles {
  readonly certificate: string
  readonly key: string
  readonly names: readonly string[]
}

/** CERT,KEY[:NAME,…]. Each use of the flag adds one pair. */
export const namedFiles: FlagType<readonly NamedFiles[]> = {
  accepts:
    'two files that can be read, such as example.crt,example.key, and if wanted names after a colon: foo.crt,foo.key:*.foo.com,foo.com; the flag may be given several times',
  word: 'FILE,FILE[:NAME,…]',
  unit: '',
  read(given, before) {
    const [, pair = '', stated] = /^([^:]*)(?::(.*))?$/s.exec(given) ?? []
    const [certificate, key, ...more] = pair.split(',').map((path) => path.trim())
    if (certificate === undefined || key === undefined || more.length > 0) return undefined
    if (stated?.trim() === '' || !readable(certificate) || !readable(key)) return undefined
    const names = stated?.split(',').map((name) => name.trim()) ?? []
    return [...(before ?? []), { certificate: resolve(certificate), key: resolve(key), names }]
  },
  show: () => '',
}
