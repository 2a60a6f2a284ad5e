/** Parses the subject alternative names of a certificate, with Go's errors. */
import { goQuote } from '#api/go-syntax.ts'
import { parseGoUrl } from '#kinds/admissionregistration/go-url.ts'
import { isDomainName } from './domain-name.ts'
import { headerOfCompleteValue } from './go-asn1-header.ts'

const sequence = 0x30
const ipLengths = [4, 16]

const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0x80)
const malformed =
  (name: string) =>
  (bytes: Buffer): string | undefined =>
    isAscii(bytes) ? undefined : `x509: SAN ${name} is malformed`

/** By the tag of the name. */
const problems: Readonly<Record<number, (bytes: Buffer) => string | undefined>> = {
  129: malformed('rfc822Name'),
  130: malformed('dNSName'),
  134: uriProblem,
  135: (bytes) =>
    ipLengths.includes(bytes.length)
      ? undefined
      : `x509: cannot parse IP address of length ${bytes.length}`,
}

function uriProblem(bytes: Buffer): string | undefined {
  const problem = malformed('uniformResourceIdentifier')(bytes)
  if (problem !== undefined) return problem
  const text = bytes.toString('latin1')
  const parsed = parseGoUrl(text)
  const told = `x509: cannot parse URI ${goQuote(text)}`
  if (!parsed.ok) return `${told}: ${parsed.problem}`
  const { host } = parsed.url
  return host === '' || isDomainName(host, false) ? undefined : `${told}: invalid domain`
}

export function alternativeNamesProblem(bytes: Buffer): string | undefined {
  const outer = headerOfCompleteValue(bytes, 0)
  if (outer === undefined || bytes[0] !== sequence) return 'x509: invalid subject alternative names'
  const names = bytes.subarray(outer.from, outer.from + outer.length)
  for (let at = 0; at < names.length; ) {
    const header = headerOfCompleteValue(names, at)
    if (header === undefined) return 'x509: invalid subject alternative name'
    const end = header.from + header.length
    const problem = problems[names[at] as number]?.(names.subarray(header.from, end))
    if (problem !== undefined) return problem
    at = end
  }
  return undefined
}
