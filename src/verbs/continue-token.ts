/**
 * Encodes and decodes the start of the next page of a list. A token contains a key relative to the
 * listed range, so it cannot access other ranges. Errors have kube-apiserver's messages.
 */
import type { Json } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { nestingDepthMax } from '#codec/json.ts'
import { faultOf, scanJsonBytes } from '#codec/json-scan.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import type { Revision } from '#storage/storage.ts'

export interface ContinuePoint {
  /** Relative to the prefix of the list. */
  readonly start: string
  /** Negative: list at the newest revision. */
  readonly revision: Revision
}

const tokenVersion = 'meta.k8s.io/v1'

const tokenType = structOf('etcd3.continueToken', [
  field('v', scalar('string'), 1),
  field('rv', scalar('int64'), 2),
  field('start', scalar('string'), 3),
])

const faults = loadLater<typeof import('#codec/go-json/plain-fault.ts')>(
  import.meta.url,
  '../codec/go-json/plain-fault',
)

export function encodeContinue({ start, revision }: ContinuePoint): string {
  const text = JSON.stringify({ v: tokenVersion, rv: revision, start })
  return Buffer.from(text).toString('base64url')
}

const refuse = (why: string) =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`)

export function decodeContinue(token: string): ContinuePoint {
  const bytes = decodeBase64(token)
  let parsed: Json
  try {
    parsed = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw refuse(faultOf(scanJsonBytes(bytes, nestingDepthMax)))
  }
  const problem = misfit(parsed)
  if (problem !== undefined) throw refuse(problem)
  const { v, rv, start } = (parsed ?? {}) as { v?: unknown; rv?: unknown; start?: unknown }
  if (v !== tokenVersion) {
    throw refuse(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`)
  }
  if (!rv) {
    throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  }
  if (typeof start !== 'string' || start === '') {
    throw refuse('encoded start key empty (version meta.k8s.io/v1)')
  }
  if (!isClean(start)) throw refuse(start)
  return { start, revision: rv as number }
}

/** Go's error for a value that is not a token; an unsafe integer as revision is also an error. */
function misfit(parsed: Json): string | undefined {
  const fault = faults().plainFault(tokenType, parsed)
  if (fault !== undefined || parsed === null) return fault
  const { rv } = parsed as { rv?: unknown }
  if (typeof rv !== 'number' || Number.isSafeInteger(rv)) return undefined
  return `json: cannot unmarshal number ${rv} into Go struct field continueToken.rv of type int64`
}

/** Whether the key stays in the range: it has no `..`, no `.` and no empty segment. */
function isClean(start: string): boolean {
  const key = start.startsWith('/') ? start.slice(1) : start
  return key.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Line breaks are ignored, as in Go. */
function decodeBase64(token: string): Buffer {
  const bad = /[^A-Za-z0-9_\r\n-]/.exec(token)
  if (bad !== null) throw refuse(`illegal base64 data at input byte ${bad.index}`)
  if (token.replaceAll(/[\r\n]/g, '').length % 4 === 1)
    throw refuse(`illegal base64 data at input byte ${token.length - 1}`)
  return Buffer.from(token, 'base64url')
}
