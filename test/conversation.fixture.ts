/**
 * A conversation about objects as a test writes it down: who does what to which object, and what of
 * the answer counts. Several managers, every type of patch, and owners as one line each.
 */
import assert from 'node:assert/strict'
import type { Answer, RunningServer } from './running-server.ts'

type Change = 'apply' | 'force' | 'merge' | 'strategic' | 'json'
const contentTypes: Readonly<Record<Change, string>> = {
  apply: 'application/apply-patch+yaml',
  force: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
}

/** What must be so of an answer; what is left out may be anything. */
export interface Wanted {
  /** 200 by default. */
  readonly status?: number
  readonly message?: RegExp | string
  /** `reason field: message` of each cause. */
  readonly causes?: readonly string[]
  /**
   * `one Apply data data.a` of each entry, in any order: theirs is that of the seconds they were
   * written in.
   */
  readonly owners?: readonly string[]
  /** Members by path: `{ 'data.a': '1', 'data.b': undefined }`. */
  readonly has?: Readonly<Record<string, unknown>>
}

export interface Said {
  readonly method: Change | 'POST' | 'PUT' | 'GET' | 'DELETE'
  readonly path: string
  /** The manager; '' says none. */
  readonly as?: string
  readonly body?: unknown
  readonly query?: string
  readonly user?: string
}

export async function say(server: Pick<RunningServer, 'ask'>, said: Said): Promise<Answer> {
  const type = contentTypes[said.method as Change] as string | undefined
  const query = [
    ...(said.as ? [`fieldManager=${said.as}`] : []),
    ...(said.method === 'force' ? ['force=true'] : []),
    ...(said.query ? [said.query] : []),
  ]
  const headers = {
    ...(type !== undefined && { 'content-type': type }),
    ...(said.user !== undefined && { 'impersonate-user': said.user }),
  }
  const path = query.length > 0 ? `${said.path}?${query.join('&')}` : said.path
  return server.ask(type === undefined ? said.method : 'PATCH', path, said.body, headers)
}

export function judge({ status, body }: Answer, wanted: Wanted, what: string): void {
  assert.equal(status, wanted.status ?? 200, `${what}: ${JSON.stringify(body)?.slice(0, 400)}`)
  const { message, causes, owners, has } = wanted
  if (typeof message === 'string') assert.equal(body.message, message, what)
  else if (message !== undefined) assert.match(body.message, message, what)
  if (causes !== undefined) assert.deepEqual(causesOf(body), causes, what)
  if (owners !== undefined) assert.deepEqual(ownersOf(body).sort(), [...owners].sort(), what)
  for (const path in has) assert.deepEqual(at(body, path), has[path], `${what}: ${path}`)
}

interface Cause {
  readonly reason: string
  readonly field: string
  readonly message: string
}
const causesOf = (body: { details?: { causes?: Cause[] } }): string[] =>
  (body.details?.causes ?? []).map(({ reason, field, message }) => `${reason} ${field}: ${message}`)

interface Entry {
  readonly manager: string
  readonly operation: string
  readonly subresource?: string
  readonly fieldsV1: Tree
}
interface Tree {
  readonly [step: string]: Tree
}

export const ownersOf = (body: { metadata: { managedFields?: Entry[] } }): string[] =>
  (body.metadata.managedFields ?? []).map(({ manager, operation, subresource, fieldsV1 }) =>
    [manager, operation, ...(subresource ? [`(${subresource})`] : []), ...paths(fieldsV1, '')].join(
      ' ',
    ),
  )

/** Every path of a tree: `spec.ports[{"port":80}].name`. */
function paths(tree: Tree, before: string): string[] {
  return Object.entries(tree).flatMap(([step, below]) => {
    if (step === '.') return [before]
    const text = step.startsWith('f:')
      ? `${before === '' ? '' : `${before}.`}${step.slice(2)}`
      : `${before}[${step.slice(2)}]`
    return Object.keys(below).length === 0 ? [text] : paths(below, text)
  })
}

function at(value: unknown, path: string): unknown {
  let found = value as Record<string, unknown> | undefined
  for (const name of path.split('.')) found = found?.[name] as Record<string, unknown> | undefined
  return found
}
