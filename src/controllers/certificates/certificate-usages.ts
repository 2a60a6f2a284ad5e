/** Maps the usages of a certificate request to key usage bits and extended key usages. */
import type { ExactUsages } from '#base/certificate.ts'

const keyBit: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
])

/** In the order in which certificates list them. */
const extendedUsage: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
])

/** Converts usages. Throws if one is unknown. */
export function certificateUsages(words: readonly string[]): ExactUsages {
  const unknown = words.filter((word) => !keyBit.has(word) && !extendedUsage.has(word))
  if (unknown.length > 0) {
    const said = unknown.map((word) => JSON.stringify(word)).join(' ')
    throw new Error(`unrecognized usage values: [${said}]`)
  }
  const asked = new Set(words)
  const of = <T>(table: ReadonlyMap<string, T>): T[] => [
    ...new Set([...table].filter(([word]) => asked.has(word)).map(([, value]) => value)),
  ]
  return { keyBits: of(keyBit), extended: of(extendedUsage) }
}
