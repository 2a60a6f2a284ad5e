/**
 * Where the next page of a list begins. A token names a key relative to the range that is listed,
 * so it cannot be turned into a door to another range; errors have kube-apiserver's words.
 */
import type { Json } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { nestingDepthMax } from '#codec/json.ts'
import { faultOf, scanJsonBytes } from '#codec/json-scan.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import type { Revision } from '#storage/storage.ts'

export interface ContinuePoint {
  /** Relative to the prefix that is listed. */
  readonly start: string
  /** Negative: at whatever version is newest. */
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

/** What Go says of a value that is no token; a revision beyond what numbers hold is none. */
function misfit(parsed: Json): string | undefined {
  const fault = faults().plainFault(tokenType, parsed)
  if (fault !== undefined || parsed === null) return fault
  const { rv } = parsed as { rv?: unknown }
  if (typeof rv !== 'number' || Number.isSafeInteger(rv)) return undefined
  return `json: cannot unmarshal number ${rv} into Go struct field continueToken.rv of type int64`
}

/** Nothing in it that climbs out of the range: no `..`, no `.`, no empty segment. */
function isClean(start: string): boolean {
  const key = start.startsWith('/') ? start.slice(1) : start
  return key.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Ends of lines are read over, as Go does. */
function decodeBase64(token: string): Buffer {
  const bad = /[^A-Za-z0-9_\r\n-]/.exec(token)
  if (bad !== null) throw refuse(`illegal base64 data at input byte ${bad.index}`)
  if (token.replaceAll(/[\r\n]/g, '').length % 4 === 1)
    throw refuse(`illegal base64 data at input byte ${token.length - 1}`)
  return Buffer.from(token, 'base64url')
}
