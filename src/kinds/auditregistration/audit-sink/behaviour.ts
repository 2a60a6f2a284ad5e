/**
 * AuditSink, up to 1.18: where audit events are sent besides the server's own log, and how many.
 */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkClientConfig } from '#kinds/admissionregistration/webhook-client.ts'

const path = FieldPath.of('spec')
const levels = ['Metadata', 'None', 'Request', 'RequestResponse']
const stages = ['Panic', 'RequestReceived', 'ResponseComplete', 'ResponseStarted']

function checkPolicy({ level = '', stages: chosen = [] }: Loose, at: FieldPath): FieldError[] {
  if (level !== 'None' && chosen.length === 0) return [required(at.child('stages'))]
  const errors = (chosen as string[]).flatMap((stage, i) =>
    stages.includes(stage)
      ? []
      : [invalid(at.child('stages').index(i), stage, `allowed stages are ${stages.join(',')}`)],
  )
  if (level === '') return [...errors, required(at.child('level'))]
  if (levels.includes(level)) return errors
  return [...errors, notSupported(at.child('level'), level, levels)]
}

function checkWebhook({ throttle = {}, clientConfig = {} }: Loose, at: FieldPath): FieldError[] {
  const errors = ['qps', 'burst'].flatMap((field) =>
    throttle[field] !== undefined && throttle[field] <= 0
      ? [
          invalid(
            at.child('throttle', field),
            throttle[field],
            `${field} must be a positive number`,
          ),
        ]
      : [],
  )
  return [...errors, ...checkClientConfig(clientConfig, at.child('clientConfig'))]
}

const check = ({ spec = {} }: KubeObject): FieldError[] => [
  ...checkPolicy(spec.policy ?? {}, path.child('policy')),
  ...checkWebhook(spec.webhook ?? {}, path.child('webhook')),
]

const checkWhole = (object: KubeObject): FieldError[] => [
  ...checkPlainMetadata(object, false, nameIsDnsSubdomain),
  ...check(object),
]

export const auditSinkBehaviour: Behaviour = {
  unconditionalUpdate: false,
  prepareForCreate(object) {
    object.metadata.generation = 1
  },
  prepareForUpdate: (next, old) => raiseGeneration(next, old, ['spec']),
  validateCreate: check,
  validateUpdate: (next) => [...checkWhole(next), ...checkWhole(next)],
}
