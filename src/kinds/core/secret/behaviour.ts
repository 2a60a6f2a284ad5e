/**
 * Secret: validates keys and size, and the data that each type requires. Data of an immutable
 * secret must not change.
 */
import { type FieldError, forbidden, invalid, required, tooLong } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { configMapKey, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkImmutable, each, isAsBefore, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { jsonProblem } from '#kinds/all-kinds/json-problem.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { keyPairWarnings } from './key-pair-warnings.ts'
import { ownValue } from '#kinds/own-key.ts'
import { base64Length } from '#kinds/all-kinds/base64-length.ts'
import { dataSizeBytesMax, dropFrozen } from '#kinds/core/config-map/behaviour.ts'

const dataPath = FieldPath.of('data')
/** kube-apiserver does not fill this in; clients see the placeholder. */
const unfilledPath = FieldPath.of('data[%s]')
const goMapType = 'map[string]interface {}'
const serviceAccountName = 'kubernetes.io/service-account.name'

function check(secret: KubeObject, { release }: Pick<Context, 'release'>): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key of sortedKeys(secret.data)) {
    errors.push(...each(dataPath.key(key), key, configMapKey(key)))
    size += base64Length(secret.data[key])
  }
  if (size > dataSizeBytesMax) errors.push(tooLong(dataPath, '', dataSizeBytesMax))
  return [...errors, ...(checksByType.get(secret.type ?? '')?.(secret, release) ?? [])]
}

const has = (secret: KubeObject, key: string): boolean => ownValue(secret.data, key) !== undefined

function checkDockerConfig(secret: KubeObject, key: string): FieldError[] {
  const value = ownValue<string>(secret.data, key)
  if (value === undefined) return [required(dataPath.key(key))]
  const problem = jsonProblem(Buffer.from(value ?? '', 'base64'), 'object', goMapType)
  if (problem === undefined) return []
  return [invalid(dataPath.key(key), '<secret contents redacted>', problem)]
}

const namesMissingKey = change('errors of missing data of a Secret name the key', { since: 24 })

const missing = (release: number, key: string): FieldError =>
  required((releaseOf(release).has(namesMissingKey) ? dataPath : unfilledPath).key(key))

const checksByType = new Map<string, (secret: KubeObject, release: number) => FieldError[]>([
  [
    'kubernetes.io/service-account-token',
    (secret) =>
      ownValue(secret.metadata.annotations, serviceAccountName)
        ? []
        : [required(FieldPath.of('metadata', 'annotations').key(serviceAccountName))],
  ],
  ['kubernetes.io/dockercfg', (secret) => checkDockerConfig(secret, '.dockercfg')],
  ['kubernetes.io/dockerconfigjson', (secret) => checkDockerConfig(secret, '.dockerconfigjson')],
  [
    'kubernetes.io/basic-auth',
    (secret, release) =>
      has(secret, 'username') || has(secret, 'password')
        ? []
        : [missing(release, 'username'), missing(release, 'password')],
  ],
  [
    'kubernetes.io/ssh-auth',
    (secret, release) =>
      ownValue(secret.data, 'ssh-privatekey') ? [] : [missing(release, 'ssh-privatekey')],
  ],
  [
    'kubernetes.io/tls',
    (secret) =>
      ['tls.crt', 'tls.key']
        .filter((key) => !has(secret, key))
        .map((key) => required(dataPath.key(key))),
  ],
])

const frozen = 'field is immutable when `immutable` is set'

function checkFrozen(next: KubeObject, old: KubeObject): FieldError[] {
  if (old.immutable !== true) return []
  const errors: FieldError[] = []
  if (next.immutable !== true) errors.push(forbidden('immutable', frozen))
  if (!isAsBefore(next, old, 'data')) errors.push(forbidden('data', frozen))
  return errors
}

export const secretBehaviour: Behaviour = {
  prepareForCreate: (object, context) => dropFrozen(object, undefined, context),
  prepareForUpdate(next, old, context) {
    if (!next.type) next.type = old.type
    dropFrozen(next, old, context)
  },
  warningsOnCreate: keyPairWarnings,
  warningsOnUpdate: (next, _old, context) => keyPairWarnings(next, context),
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkImmutable(next.type, old.type, FieldPath.of('type')),
    ...checkFrozen(next, old),
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(next, context),
  ],
  selectableFields: (object) => ({ type: object.type ?? '' }),
}
