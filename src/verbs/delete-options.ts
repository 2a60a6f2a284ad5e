/** Parses DeleteOptions from a body or from the query. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, notSupported } from '#api/field-error.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { flag, parseInt64 } from '#api/list-options.ts'
import type { Loose } from '#api/object-meta.ts'
import { inWordsOf, noDeleteOptions, unregisteredKind } from '#api/release-words.ts'
import { ApiError, badRequest, invalidObject } from '#api/status-error.ts'
import { exactInteger } from '#codec/exact-integer.ts'

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | bigint | undefined
  /** Whether the body has preconditions, even empty ones. */
  readonly preconditions?: boolean
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly orphanDependents: boolean | undefined
  readonly propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined
  readonly dryRun: boolean
  /** The object is deleted only if it cannot be read. */
  readonly ignoresReadErrors?: boolean
}

/** The feature gate of that option; without it kube-apiserver ignores the option. */
export const allowsUnsafeDeletion = 'AllowUnsafeMalformedObjectDeletion'

const ignoreReadErrors = 'ignoreStoreReadErrorWithClusterBreakingPotential'

const policies = ['Orphan', 'Background', 'Foreground']
const optionsKind = { group: 'meta.k8s.io', kind: 'DeleteOptions' }

/**
 * Parses a body of kind DeleteOptions in any group version. `dryRun` may also come from the query.
 */
export function deleteOptionsFrom(
  body: Loose,
  release: number,
  dryRunInQuery: readonly string[] = [],
  allowsUnsafe = false,
): DeleteOptions {
  const { kind = '', apiVersion } = body
  if (kind !== '' && kind !== 'DeleteOptions') throw ofAnotherKind(kind, apiVersion, release)
  const preconditions = objectOf(body.preconditions, 'preconditions')
  const stated = body.dryRun ?? []
  if (!Array.isArray(stated) || stated.some((value) => typeof value !== 'string')) {
    throw wrongType('dryRun', 'a list of strings')
  }
  const dryRun: string[] = [...stated, ...dryRunInQuery]
  const options = {
    gracePeriodSeconds: integer(body.gracePeriodSeconds, 'gracePeriodSeconds'),
    ...(body.preconditions != null && { preconditions: true }),
    uid: text(preconditions.uid, 'preconditions.uid'),
    resourceVersion: text(preconditions.resourceVersion, 'preconditions.resourceVersion'),
    orphanDependents: boolean(body.orphanDependents, 'orphanDependents'),
    propagationPolicy: text(body.propagationPolicy, 'propagationPolicy') as never,
    dryRun: dryRun.some((value) => value !== ''),
    ...(allowsUnsafe &&
      boolean(body[ignoreReadErrors], ignoreReadErrors) && { ignoresReadErrors: true }),
  }
  refuseInvalidOptions(options, dryRun, release)
  return options
}

/** Kinds that kube-apiserver can decode instead of options, and then fails to convert. */
const readAsWell = new Set(
  [
    'v1 Status APIVersions APIGroupList APIGroup APIResourceList',
    'meta.k8s.io/v1 Table TableOptions PartialObjectMetadata PartialObjectMetadataList GetOptions CreateOptions UpdateOptions PatchOptions',
  ].flatMap((row) => {
    const [version, ...kinds] = row.split(' ')
    return kinds.map((kind) => `${version} ${kind}`)
  }),
)

function ofAnotherKind(kind: string, apiVersion: unknown, release: number): ApiError {
  const version = String(apiVersion || 'meta.k8s.io/v1')
  const message = readAsWell.has(`${version} ${kind}`)
    ? noDeleteOptions(`v1.${kind}`, release)
    : unregisteredKind(kind, `version "${version}"`, release)
  return new ApiError(500, '', message)
}

const readsPreconditions = change('a deletion reads preconditions from its query', { since: 17 })

/** Parses the query of a DELETE without a body. */
export function deleteOptionsFromQuery(
  query: URLSearchParams,
  release: number,
  allowsUnsafe = false,
): DeleteOptions {
  const precondition = (name: string) =>
    releaseOf(release).has(readsPreconditions) ? query.get(name) || undefined : undefined
  const grace = query.get('gracePeriodSeconds')
  const orphan = query.get('orphanDependents')
  const options = {
    gracePeriodSeconds: grace === null ? undefined : exactInteger(parseInt64(grace)),
    uid: precondition('uid'),
    resourceVersion: precondition('resourceVersion'),
    orphanDependents: orphan === null ? undefined : parseBool(orphan),
    propagationPolicy: (query.get('propagationPolicy') ?? undefined) as never,
    dryRun: query.getAll('dryRun').some((value) => value !== ''),
    ...(allowsUnsafe && flag(query.get(ignoreReadErrors)) && { ignoresReadErrors: true }),
  }
  refuseInvalidOptions(options, query.getAll('dryRun'), release)
  return options
}

function refuseInvalidOptions(options: DeleteOptions, dryRun: string[], release: number): void {
  const errors: FieldError[] = []
  const { orphanDependents, propagationPolicy } = options
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(
      invalid(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(
      notSupported('propagationPolicy', propagationPolicy, [
        'Foreground',
        'Background',
        'Orphan',
        'nil',
      ]),
    )
  }
  errors.push(...dryRunErrors(dryRun), ...unsafeErrors(options))
  if (errors.length > 0) throw invalidObject(optionsKind, '', inWordsOf(errors, release))
}

/**
 * These options need the decoded object, so they conflict with the deletion of an unreadable
 * object.
 */
function unsafeErrors(options: DeleteOptions): FieldError[] {
  if (!options.ignoresReadErrors) return []
  const { propagationPolicy, orphanDependents, gracePeriodSeconds, preconditions } = options
  const has = {
    propagationPolicy: propagationPolicy !== undefined,
    orphanDependents: orphanDependents !== undefined,
    gracePeriodSeconds: gracePeriodSeconds !== undefined,
    preconditions: preconditions ?? (options.uid ?? options.resourceVersion) !== undefined,
  }
  return Object.entries(has)
    .filter(([, isSet]) => isSet)
    .map(([name]) => invalid(ignoreReadErrors, true, `cannot be set together with .${name}`))
}

/** Throws 422 if the deletion of a collection is to ignore read errors. */
export function refuseUnsafeCollection({ ignoresReadErrors }: DeleteOptions): void {
  if (!ignoresReadErrors) return
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option'
  throw invalidObject(optionsKind, '', [invalid(ignoreReadErrors, true, why)])
}

/** Accepts `All` or nothing. An empty value means no dry run. */
export function dryRunErrors(values: readonly string[]): FieldError[] {
  const given = values.filter((value) => value !== '')
  return given.some((value) => value !== 'All')
    ? [notSupported('dryRun', asGo(goStrings(given)), ['All'])]
    : []
}

/** A parameter is false only when it is absent, `false` or `0`. */
const parseBool = (value: string): boolean => value.toLowerCase() !== 'false' && value !== '0'

const wrongType = (field: string, what: string) =>
  badRequest(
    `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${field} must be ${what}`,
  )

function objectOf(value: unknown, field: string): Loose {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(field, 'an object')
  return value
}
function text(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrongType(field, 'a string')
  return value
}
function integer(value: unknown, field: string): number | bigint | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'bigint') return value
  if (!Number.isSafeInteger(value)) throw wrongType(field, 'an integer')
  return value as number
}
function boolean(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw wrongType(field, 'a boolean')
  return value
}
