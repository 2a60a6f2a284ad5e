/**
 * The parameters of operations. Query parameters are derived from the types of the options, such as
 * ListOptions, so each release has its own.
 */
import type { Struct, Type } from '#schema/type.ts'
import { metaType, type OpenApiSource } from './source.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

const words: Readonly<Record<string, string>> = {
  allowWatchBookmarks: 'Send bookmarks from time to time while watching.',
  command: 'The command to run, one parameter for each word.',
  container: 'The container meant, where the pod has several.',
  continue: 'The token of the last page, to read the next one.',
  dryRun: 'Set to All: do everything but store the result.',
  exact: 'Keep what the cluster has set in the exported object.',
  export: 'Leave out what a user cannot give.',
  fieldManager: 'The name under which changes are owned.',
  fieldSelector: 'Only objects whose fields match.',
  follow: 'Keep sending as new lines are written.',
  force: 'Take over fields that others own.',
  gracePeriodSeconds: 'Seconds an object has to end by itself; 0 deletes at once.',
  insecureSkipTLSVerifyBackend: 'Do not check the certificate of the node.',
  labelSelector: 'Only objects whose labels match.',
  limit: 'At most so many objects in one answer.',
  limitBytes: 'End after so many bytes.',
  name: 'The name of the object.',
  namespace: 'The namespace of the object.',
  orphanDependents: 'Older form of propagationPolicy.',
  path: 'The path to ask for behind the proxy.',
  ports: 'The ports to forward.',
  pretty: 'Set to true: an answer for human eyes.',
  previous: 'The log of the last container that ended.',
  propagationPolicy: 'What happens to dependents: Orphan, Background or Foreground.',
  resourceVersion: 'How fresh the answer must be, or where a watch begins.',
  resourceVersionMatch: 'How resourceVersion is meant: NotOlderThan or Exact.',
  sinceSeconds: 'Only what was written in so many last seconds.',
  stderr: 'Pass the standard error on.',
  stdin: 'Pass the standard input on.',
  stdout: 'Pass the standard output on.',
  tailLines: 'Only so many last lines.',
  timeoutSeconds: 'End the call after so many seconds.',
  timestamps: 'Write the time before each line.',
  tty: 'Use a terminal.',
  watch: 'Send changes as they happen instead of a list.',
}

/** Caches parameters, because thousands of operations share them. */
const made = new Map<string, Parameter>()

function parameterOf(name: string, place: Parameter['in'], type: Parameter['type']): Parameter {
  const key = `${place} ${type} ${name}`
  let found = made.get(key)
  if (found === undefined) {
    found = { name, in: place, type, description: words[name] ?? '' }
    made.set(key, found)
  }
  return found
}

export const query = (name: string, type: Parameter['type'] = 'string'): Parameter =>
  parameterOf(name, 'query', type)

export const inPath = (name: string): Parameter => parameterOf(name, 'path', 'string')

/** The parameter type for a field type. Undefined if a query cannot contain it. */
function queryType(type: Type): Parameter['type'] | undefined {
  if (type.is === 'list') return queryType(type.items)
  if (type.is !== 'scalar') return undefined
  if (type.scalar === 'bool') return 'boolean'
  if (type.scalar === 'int32' || type.scalar === 'int64') return 'integer'
  return type.scalar === 'string' ? 'string' : undefined
}

/** The fields of an options type as query parameters. */
export function optionsParameters(options: Struct): Parameter[] {
  const found: Parameter[] = []
  for (const field of options.fields) {
    const type = field.inline ? undefined : queryType(field.type)
    if (type !== undefined) found.push(query(field.name, type))
  }
  return found
}

/** All operations use one of a few option types, so they are made once per source. */
const known = new WeakMap<OpenApiSource, Map<string, Parameter[]>>()

export function metaOptions(source: OpenApiSource, name: string): Parameter[] {
  const ofSource = known.get(source) ?? new Map<string, Parameter[]>()
  known.set(source, ofSource)
  const found =
    ofSource.get(name) ?? optionsParameters(source.facts.typeOf(metaType(name), source.release))
  ofSource.set(name, found)
  return found
}
