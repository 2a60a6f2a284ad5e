/**
 * The type of a patched object: a patch may remove the kind, or change the object to another
 * version of it. Other changes are rejected with kube-apiserver's message. decode.ts has the rules
 * of custom kinds.
 */
import { groupOf } from '#api/api-version.ts'
import type { Json } from '#api/object-meta.ts'
import { unregisteredKind } from '#api/release-words.ts'
import { badRequest } from '#api/status-error.ts'
import { readGoJson } from '#codec/go-json/decode.ts'
import { JsonError } from '#codec/json.ts'
import { apiVersionFault, bodyHeader } from '#codec/type-header.ts'
import { goTypeOf, internalName, isKnownType } from '#kinds/known-type.ts'
import type { Server } from './server.ts'

export interface TypeName {
  readonly apiVersion: string
  readonly kind: string
}

/** The result of decoding an object as the type that it names. */
export interface DecodedAs {
  readonly goType: string
  /** The reason why it cannot be decoded. */
  readonly fault?: string | undefined
}

/**
 * The version of a patched object; undefined if it has none. `isOneOf` checks versions of the
 * expected kind; `readAs` decodes the object as any known type. Throws 400.
 */
export function patchedVersion(
  expected: TypeName,
  raw: Json,
  isOneOf: (apiVersion: string) => boolean,
  readAs: (type: TypeName) => DecodedAs | undefined,
  release: number,
): string | undefined {
  const stated = headerOf(raw)
  const kind = stated.kind || expected.kind
  if (stated.apiVersion === '') {
    if (kind === expected.kind) return undefined
    const version = `the internal version of group "${groupOf(expected.apiVersion)}"`
    throw badRequest(unregisteredKind(kind, version, release))
  }
  const fault = apiVersionFault(stated.apiVersion)
  if (fault !== undefined) throw badRequest(fault)
  // "/v1" has an empty group, which is the core group.
  const apiVersion = stated.apiVersion.replace(/^\//, '')
  if (kind === expected.kind && isOneOf(apiVersion)) return apiVersion
  throw badRequest(faultOf(expected, { apiVersion, kind }, readAs({ apiVersion, kind }), release))
}

/** The error for an object whose type is not the expected one. */
export const otherTypeFault = (
  server: Server,
  expected: TypeName,
  stated: TypeName,
  text: () => Buffer,
): string =>
  faultOf(expected, stated, readAsAny(server, expected.apiVersion, text)(stated), server.release)

const faultOf = (
  expected: TypeName,
  stated: TypeName,
  read: DecodedAs | undefined,
  release: number,
): string =>
  read === undefined
    ? unregisteredKind(stated.kind, `version "${stated.apiVersion}"`, release)
    : (read.fault ??
      `converting (${read.goType}) to (${internalName(expected.apiVersion, expected.kind)}): unknown conversion`)

function headerOf(raw: Json) {
  try {
    return bodyHeader(raw)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`)
  }
}

/** Decodes the text of an object as any type that the group at `at` knows. */
export function readAsAny(server: Server, at: string, text: () => Buffer) {
  return ({ apiVersion, kind }: TypeName): DecodedAs | undefined => {
    if (!isKnownType(server, at, apiVersion, kind)) return undefined
    const type = server.typeNamed(apiVersion, kind)
    const read = type && readGoJson(text(), type)
    return {
      goType: goTypeOf(apiVersion, kind),
      fault: read && 'fault' in read ? read.fault : undefined,
    }
  }
}
