/**
 * Converts `--tls-cipher-suites` and `--tls-min-version` into OpenSSL's options. Suites have Go's
 * names and Go's order of preference, regardless of the order in the flag. Nothing here opens a
 * connection.
 */
import type { SecureVersion } from 'node:tls'

interface Suite {
  readonly name: string
  /** OpenSSL's name. Undefined if OpenSSL has removed the suite, so it is never negotiated. */
  readonly openssl?: string
  readonly isInsecure?: true
}

// biome-ignore format: a table is read by its columns
const suites: readonly Suite[] = [
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', openssl: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', openssl: 'ECDHE-RSA-AES128-GCM-SHA256' },
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', openssl: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', openssl: 'ECDHE-RSA-AES256-GCM-SHA384' },
  { name: 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', openssl: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
  { name: 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', openssl: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
  { name: 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', openssl: 'ECDHE-RSA-CHACHA20-POLY1305' },
  { name: 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', openssl: 'ECDHE-RSA-CHACHA20-POLY1305' },
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', openssl: 'ECDHE-ECDSA-AES128-SHA' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', openssl: 'ECDHE-RSA-AES128-SHA' },
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', openssl: 'ECDHE-ECDSA-AES256-SHA' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', openssl: 'ECDHE-RSA-AES256-SHA' },
  { name: 'TLS_RSA_WITH_AES_128_GCM_SHA256', openssl: 'AES128-GCM-SHA256' },
  { name: 'TLS_RSA_WITH_AES_256_GCM_SHA384', openssl: 'AES256-GCM-SHA384' },
  { name: 'TLS_RSA_WITH_AES_128_CBC_SHA', openssl: 'AES128-SHA' },
  { name: 'TLS_RSA_WITH_AES_256_CBC_SHA', openssl: 'AES256-SHA' },
  { name: 'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA' },
  { name: 'TLS_RSA_WITH_3DES_EDE_CBC_SHA' },
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', openssl: 'ECDHE-ECDSA-AES128-SHA256', isInsecure: true },
  { name: 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', openssl: 'ECDHE-RSA-AES128-SHA256', isInsecure: true },
  { name: 'TLS_RSA_WITH_AES_128_CBC_SHA256', openssl: 'AES128-SHA256', isInsecure: true },
  { name: 'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA', isInsecure: true },
  { name: 'TLS_ECDHE_RSA_WITH_RC4_128_SHA', isInsecure: true },
  { name: 'TLS_RSA_WITH_RC4_128_SHA', isInsecure: true },
]

/** TLS 1.3 suites are always enabled, as in Go. The fastest is first. */
const suitesOfTls13 = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
]

export const suiteNames: ReadonlySet<string> = new Set([
  ...suitesOfTls13,
  ...suites.map(({ name }) => name),
])

const versions = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>

/** Every client of HTTP/2 over TLS 1.2 supports at least one of these suites. */
const http2Suites = [
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
]

/** Why the values of the two flags are invalid, separately or together. */
export function tlsProblem(names: readonly string[], minVersion: string): string | undefined {
  const unknown = names.find((name) => !suiteNames.has(name))
  if (unknown !== undefined)
    return `--tls-cipher-suites: ${JSON.stringify(unknown)} is not accepted: it wants names of ${[...suiteNames].join(', ')}`
  if (names.length === 0 || minVersion === 'VersionTLS13') return undefined
  if (http2Suites.some((name) => names.includes(name))) return undefined
  return `--tls-cipher-suites needs ${http2Suites.join(' or ')}, for HTTP/2, unless --tls-min-version=VersionTLS13`
}

/** The two flags. */
export interface TlsFlags {
  readonly tlsCipherSuites: readonly string[]
  readonly tlsMinVersion: keyof typeof versions
}

export interface TlsPolicy {
  readonly minVersion?: SecureVersion
  /** OpenSSL's cipher list; undefined for the listener's default. */
  readonly ciphers?: string | undefined
  /** Warnings for the operator about the named suites. */
  readonly warnings: readonly string[]
}

export function tlsPolicy({ tlsCipherSuites: names, tlsMinVersion }: TlsFlags): TlsPolicy {
  const named = suites.filter(({ name }) => names.includes(name))
  const agreed = named.flatMap(({ openssl }) => openssl ?? [])
  return {
    minVersion: versions[tlsMinVersion],
    ciphers: names.length === 0 ? undefined : [...suitesOfTls13, ...new Set(agreed)].join(':'),
    warnings: named.flatMap(({ name, openssl, isInsecure }) => [
      ...(isInsecure ? [`Use of insecure cipher '${name}' detected.`] : []),
      ...(openssl === undefined ? [`--tls-cipher-suites: OpenSSL has no ${name}: never used`] : []),
    ]),
  }
}
