/**
 * The options in the query of a connection, as the object that admission sees and the kubelet
 * receives. Values are read as Go reads them: words and numbers it cannot read reject the request.
 */
import { badRequest } from '#api/status-error.ts'

/** A switch is on unless it is `false` or `0`, as in kube-apiserver. */
export function switchOf(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** A whole number; the first value is used. */
export function numberOf(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const problem = (what: string) =>
    badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${what}`)
  if (!/^[+-]?[0-9]+$/.test(text)) throw problem('invalid syntax')
  const value = BigInt(text.replace(/^\+/, ''))
  if (BigInt.asIntN(64, value) !== value) throw problem('value out of range')
  return value
}

function portNumber(text: string): number {
  const problem = (what: string) =>
    badRequest(
      `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${what}`,
    )
  if (!/^[0-9]+$/.test(text)) throw problem('invalid syntax')
  if (Number(text) > 65_535) throw problem('value out of range')
  return Number(text)
}

export interface StreamOptions {
  readonly container: string
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
  readonly command: readonly string[]
}

export const streamOptions = (query: URLSearchParams): StreamOptions => ({
  container: query.get('container') ?? '',
  stdin: switchOf(query, 'stdin'),
  stdout: switchOf(query, 'stdout'),
  stderr: switchOf(query, 'stderr'),
  tty: switchOf(query, 'tty'),
  command: query.getAll('command'),
})

/** Several values, or one value that is separated by commas. */
export const portsOf = (query: URLSearchParams): number[] =>
  query
    .getAll('ports')
    .flatMap((text) => text.split(','))
    .map(portNumber)

/** Encodes parameters sorted by name, as Go does. */
export function encodeQuery(pairs: readonly (readonly [string, string])[]): string {
  const sorted = pairs.map((pair, i) => ({ pair, i }))
  sorted.sort((a, b) => (a.pair[0] < b.pair[0] ? -1 : a.pair[0] > b.pair[0] ? 1 : a.i - b.i))
  return new URLSearchParams(
    sorted.map(({ pair: [name, value] }) => [name, value] as [string, string]),
  ).toString()
}

/** The booleans in the form that kubelets read. */
export function streamQuery(options: StreamOptions): string {
  const on = (['stdin', 'stdout', 'stderr', 'tty'] as const).filter((name) => options[name])
  const pairs: [string, string][] = on.map((name) => [
    { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' }[name],
    '1',
  ])
  for (const word of options.command) pairs.push(['command', word])
  return encodeQuery(pairs)
}
