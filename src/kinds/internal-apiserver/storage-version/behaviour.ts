/** StorageVersion: the version in which each server stores a resource, and the common version. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import {
  dns1035Label,
  dns1123Subdomain,
  emptyProblem,
  nameIsDnsSubdomain,
  patternProblem,
  qualifiedName,
} from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'

/** `<group>.<resource>`, the group of the core resources being called core. */
function nameRule(name: string): string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...dns1123Subdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035Label(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ]
}

function apiVersionProblems(apiVersion: string): string[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    const message =
      "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
    const form = patternProblem(message, '[a-z]([-a-z0-9]*[a-z0-9])?', 'my-name', 'abc-123')
    return [
      `an apiVersion is ${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`,
    ]
  }
  const problemsOf = (part: string, value: string, problems: (value: string) => string[]) =>
    (value === '' ? [emptyProblem] : problems(value)).map((problem) => `${part} part: ${problem}`)
  const version = parts.at(-1) as string
  return [
    ...(parts.length === 2 ? problemsOf('group', parts[0] as string, dns1123Subdomain) : []),
    ...problemsOf('version', version, dns1035Label),
  ]
}

function checkServer(server: Loose, path: FieldPath): FieldError[] {
  const { apiServerID: id = '', encodingVersion: encoding = '' } = server
  const decodable: string[] = server.decodableVersions ?? []
  const errors = each(path.child('apiServerID'), id, nameIsDnsSubdomain(id, false))
  const problems = apiVersionProblems(encoding)
  if (problems.length > 0) {
    errors.push(invalid(path.child('encodingVersion'), encoding, problems.join(',')))
  }
  const decodablePath = path.child('decodableVersions')
  for (const [i, version] of decodable.entries()) {
    const wrong = apiVersionProblems(version)
    if (wrong.length > 0) errors.push(invalid(decodablePath.index(i), version, wrong.join(',')))
  }
  if (!decodable.includes(encoding)) {
    const detail = `decodableVersions must include encodingVersion ${encoding}`
    errors.push(invalid(decodablePath, asGo(goStrings(server.decodableVersions)), detail))
  }
  return errors
}

function checkCommonVersion(status: Loose, path: FieldPath): FieldError[] {
  const versions: string[] = (status.storageVersions ?? []).map(
    (s: Loose) => s.encodingVersion ?? '',
  )
  const actual = versions.every((version) => version === versions[0]) ? versions[0] : undefined
  const said: string | undefined = status.commonEncodingVersion
  if (actual === said) return []
  const at = path.child('commonEncodingVersion')
  if (actual === undefined) {
    const detail =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
    return [invalid(at, said, detail)]
  }
  return said === undefined
    ? [invalid(at, null, `the common encoding version is ${actual}`)]
    : [invalid(at, said, `the actual common encoding version is ${actual}`)]
}

function checkConditions(conditions: Loose[], path: FieldPath): FieldError[] {
  const seen = new Map<string, number>()
  return conditions.flatMap(({ type = '', status = '', reason = '', message = '' }, i) => {
    const at = path.index(i)
    const errors: FieldError[] = []
    const first = seen.get(type)
    if (first !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${first}]`
      errors.push(invalid(at.child('type'), type, detail))
    }
    seen.set(type, i)
    errors.push(...each(at.child('type'), type, qualifiedName(type)))
    errors.push(...each(at.child('status'), type, qualifiedName(status)))
    if (reason === '') errors.push(required(at.child('reason'), 'reason cannot be empty'))
    if (message === '') errors.push(required(at.child('message'), 'message cannot be empty'))
    return errors
  })
}

function checkStatus(object: KubeObject): FieldError[] {
  const path = FieldPath.of('status')
  const status = object.status ?? {}
  const servers: Loose[] = status.storageVersions ?? []
  return [
    ...servers.flatMap((server, i) => checkServer(server, path.child('storageVersions').index(i))),
    ...checkCommonVersion(status, path),
    ...checkConditions(status.conditions ?? [], path),
  ]
}

export const storageVersionBehaviour: Behaviour = {
  nameRule,
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
  },
  prepareForUpdate: keepStatus,
  validateCreate: checkStatus,
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: checkStatus,
    },
  },
}
