/**
 * Decodes delete options again from their text if they do not fit their type or have duplicate
 * keys. The result or the error is kube-apiserver's. For collections kube-apiserver accepts only
 * the options of its own groups.
 */
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { noDeleteOptions, unregisteredKind } from '#api/release-words.ts'
import { ApiError } from '#api/status-error.ts'
import { readGoJson } from '#codec/go-json/decode.ts'
import { goTypeOf, isKnownType } from '#kinds/known-type.ts'
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import { fieldFault } from './field-fault.ts'
import type { Server } from './server.ts'

const meta = (name: string) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
const string = scalar('string')
const olderFields = [
  field(
    '',
    structOf(meta('TypeMeta'), [
      field('kind', string, 1, 'o'),
      field('apiVersion', string, 2, 'o'),
    ]),
    0,
    'i',
  ),
  field('gracePeriodSeconds', scalar('int64'), 1, 'op'),
  field(
    'preconditions',
    structOf(meta('Preconditions'), [
      field('uid', string, 1, 'op'),
      field('resourceVersion', string, 2, 'op'),
    ]),
    2,
    'op',
  ),
  field('orphanDependents', scalar('bool'), 3, 'op'),
  field('propagationPolicy', string, 4, 'op'),
  field('dryRun', listOf(string), 5, 'o'),
]
const ignoreReadErrors = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const olderOptions = structOf(meta('DeleteOptions'), olderFields)
const options = structOf(meta('DeleteOptions'), [
  ...olderFields,
  field(ignoreReadErrors, scalar('bool'), 6, 'op'),
])
const canIgnoreReadErrors = change('DeleteOptions have a field for objects that cannot be read', {
  since: 32,
})

export const optionsTypeIn = (release: number): typeof options =>
  releaseOf(release).has(canIgnoreReadErrors) ? options : olderOptions

export function readOptionsText(text: Buffer, release: number): Loose {
  const optionsType = optionsTypeIn(release)
  const read = readGoJson(text, optionsType)
  if ('fault' in read) {
    const fault = fieldFault(optionsType, text, release)
    throw new ApiError(500, '', fault ?? read.fault)
  }
  return (read.value ?? {}) as Loose
}

const internal = /(?:^|\/)__internal$/

const shownVersion = (apiVersion: string): string =>
  internal.test(apiVersion)
    ? `the internal version of group "${apiVersion.replace(internal, '')}"`
    : `version "${apiVersion}"`

/** Rejects a body that names a known kind other than the options of the collection's group. */
export function requireCollectionOptions(
  server: Server,
  collection: string,
  body: Loose,
  text: Buffer | undefined,
): void {
  const kind = String(body.kind || 'DeleteOptions')
  const apiVersion = String(body.apiVersion || collection)
  if (!isKnownType(server, collection, apiVersion, kind)) {
    const words = unregisteredKind(kind, shownVersion(apiVersion), server.release)
    throw new ApiError(500, '', words)
  }
  if (kind === 'DeleteOptions') return
  // kube-apiserver decodes the body as its own type before it detects that the type is wrong.
  const type = server.typeNamed(apiVersion, kind)
  const read = type && text && readGoJson(text, type)
  if (read && 'fault' in read) throw new ApiError(500, '', read.fault)
  throw new ApiError(500, '', noDeleteOptions(goTypeOf(apiVersion, kind), server.release))
}
