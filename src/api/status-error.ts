/**
 * Errors that a client can cause, with Kubernetes' code, reason, message and details. A named
 * function creates each of them. Internal errors are assertions; a lost race is a returned value.
 * This file contains neither.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { goQuote } from './go-syntax.ts'
import type { FieldError } from './field-error.ts'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined
  /** Further members of the Status' metadata, e.g. a fresh continue token. */
  listMeta: Record<string, unknown> | undefined
  /** The WWW-Authenticate header of a 401. */
  challenge: string | undefined

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }

  /** The Status object that is sent. */
  status(): Record<string, unknown> {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.listMeta ?? {},
      status: 'Failure',
      ...(this.message !== '' && { message: this.message }),
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details !== undefined && { details: this.details }),
      code: this.code,
    }
  }
}

/** A resource in error messages. */
export interface ResourceName {
  readonly group: string
  readonly plural: string
}
/** A kind in error messages. */
export interface KindName {
  readonly group: string
  readonly kind: string
}

/** `pods`, `deployments.apps` */
export const qualified = (name: string, group: string) => (group === '' ? name : `${name}.${group}`)
const about = (kind: string, group: string, name: string): StatusDetails => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  ...(kind !== '' && { kind }),
})

export const notFound = ({ group, plural }: ResourceName, name: string) =>
  new ApiError(
    404,
    'NotFound',
    `${qualified(plural, group)} ${goQuote(name)} not found`,
    about(plural, group, name),
  )

export const alreadyExists = ({ group, plural }: ResourceName, name: string) =>
  new ApiError(
    409,
    'AlreadyExists',
    `${qualified(plural, group)} ${goQuote(name)} already exists`,
    about(plural, group, name),
  )

/** The conflict for a generated name. The client may retry after one second. */
export const generatedNameTaken = (resource: ResourceName, name: string) => {
  const { code, reason, message, details } = alreadyExists(resource, name)
  const why = 'the server was not able to generate a unique name for the object'
  return new ApiError(code, reason, `${message}, ${why}`, { ...details, retryAfterSeconds: 1 })
}

export const conflict = ({ group, plural }: ResourceName, name: string, why: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(plural, group)} ${goQuote(name)}: ${why}`,
    about(plural, group, name),
  )

/** The message if a precondition of a write does not hold. */
export const preconditionFailed = (
  what: 'UID' | 'ResourceVersion',
  wanted: string,
  found: string | undefined,
): string =>
  `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`

/** kube-apiserver's message if the stored object does not match the precondition of a write. */
export const preconditionProblem = (key: string, why: string): string =>
  `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`

export const modified =
  'the object has been modified; please apply your changes to the latest version and try again'

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message)

/** `challenge`: the authentication schemes for WWW-Authenticate. */
export function unauthorized(challenge?: string): ApiError {
  const error = new ApiError(401, 'Unauthorized', 'Unauthorized')
  error.challenge = challenge
  return error
}

export const forbiddenRequest = ({ group, plural }: ResourceName, name: string, why: string) =>
  new ApiError(
    403,
    'Forbidden',
    name === '' && plural === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${qualified(plural, group)} is forbidden: ${why}`
        : `${qualified(plural, group)} ${goQuote(name)} is forbidden: ${why}`,
    about(plural, group, name),
  )

/** All errors of an object in one response; a repeated error appears once. */
export function invalidObject(
  { group, kind }: KindName,
  name: string,
  found: FieldError[],
): ApiError {
  const errors = reported(found)
  const causes = errors.map(({ type, field, message }) => ({
    reason: type,
    message,
    ...(field !== '' && { field }),
  }))
  const lines = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  const stated = lines.length === 1 ? `${lines[0]}` : `[${lines.join(', ')}]`
  return new ApiError(
    422,
    'Invalid',
    lines.length === 0
      ? `${qualified(kind, group)} ${goQuote(name)} is invalid`
      : `${qualified(kind, group)} ${goQuote(name)} is invalid: ${stated}`,
    { ...about(kind, group, name), ...(causes.length > 0 && { causes }) },
  )
}

/**
 * The maximum length of a list of problems in a response. Without it, the length could grow
 * quadratically, because each problem may show the list that contains it.
 */
export const listedProblemsLengthMax = 4 * 1024 * 1024

function reported(errors: FieldError[]): FieldError[] {
  let length = 0
  const end = errors.findIndex(({ field, message }) => {
    length += field.length + message.length
    return length > listedProblemsLengthMax
  })
  return end < 0 ? errors : errors.slice(0, Math.max(1, end))
}

export const methodNotSupported = ({ group, plural }: ResourceName, verb: string) =>
  new ApiError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${qualified(plural, group)}"`,
    about(plural, group, ''),
  )

/** The router's response if a path exists but does not accept the method. */
export const methodNotAllowed = () =>
  new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )

/** The router's response if no path matches. */
export const pathNotFound = () =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})

export const notAcceptable = (message: string) => new ApiError(406, 'NotAcceptable', message)

export const unsupportedMediaType = (message: string) =>
  new ApiError(415, 'UnsupportedMediaType', message)

export const expired = (message: string) => new ApiError(410, 'Expired', message)

/** The revision is too old for a watch. */
export const gone = (message: string) => new ApiError(410, 'Gone', message)

export const tooLarge = (message: string) => new ApiError(413, 'RequestEntityTooLarge', message)

export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds })

export const serverTimeout = (
  { group, plural }: ResourceName,
  operation: string,
  retryAfterSeconds: number,
) =>
  new ApiError(
    500,
    'ServerTimeout',
    `The ${operation} operation against ${qualified(plural, group)} could not be completed at this time, please try again.`,
    {
      ...about(plural, group, ''),
      name: operation,
      ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
    },
  )

export const timeout = (message: string, retryAfterSeconds = 0) =>
  new ApiError(504, 'Timeout', `Timeout: ${message}`, {
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  })

const tooLargeHasCause = change(
  'a resource version that is too large is named as the cause of a timeout',
  { since: 17 },
)
const tooLargeHasReason = change('the cause of a too large resource version has a reason', {
  since: 18,
})

/** A resource version that the server has not seen, after waiting for it. */
export const tooLargeResourceVersion = (
  requested: number,
  current: number,
  retryAfterSeconds: number,
  release: number,
) =>
  new ApiError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${requested}, current: ${current}`,
    {
      ...(releaseOf(release).has(tooLargeHasCause) && {
        causes: [
          {
            ...(releaseOf(release).has(tooLargeHasReason) && { reason: 'ResourceVersionTooLarge' }),
            message: 'Too large resource version',
          },
        ],
      }),
      ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
    },
  )

export const serviceUnavailable = (message: string) =>
  new ApiError(503, 'ServiceUnavailable', message)

export const internalError = (message: string) =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  })
