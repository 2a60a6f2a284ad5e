/** APIService: a group version that is served here, or by a service of the cluster. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import {
  dns1035Label,
  dns1123Subdomain,
  type NameRule,
  pathSegmentName,
  portNumber,
} from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { base64Length } from '#kinds/all-kinds/base64-length.ts'
import { checkPlainMetadata, checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'

const path = FieldPath.of('spec')

/** The name must be the version, a dot and the group. This applies to a generateName prefix too. */
const nameRuleOf =
  ({ group = '', version = '' }: Loose): NameRule =>
  (name) => {
    const problems = pathSegmentName(name)
    const wanted = `${version}.${group}`
    if (problems.length > 0 || name === wanted) return problems
    return [`must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`]
  }

function check(object: KubeObject): FieldError[] {
  const spec = object.spec ?? {}
  const { group = '', version = '', groupPriorityMinimum: least = 0, versionPriority = 0 } = spec
  const errors = checkPlainMetadata(object, false, nameRuleOf(spec))
  if (group === '' && version !== 'v1') {
    const detail = 'only v1 may have an empty group and it better be legacy kube'
    errors.push(required(path.child('group'), detail))
  }
  if (group !== '') errors.push(...each(path.child('group'), group, dns1123Subdomain(group)))
  errors.push(...each(path.child('version'), version, dns1035Label(version)))
  if (least <= 0 || least > 20000) {
    const detail = 'must be positive and less than 20000'
    errors.push(invalid(path.child('groupPriorityMinimum'), least, detail))
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    const detail = 'must be positive and less than 1000'
    errors.push(invalid(path.child('versionPriority'), versionPriority, detail))
  }
  return [...errors, ...(spec.service ? checkRemote(spec) : checkLocal(spec))]
}

function checkLocal(spec: Loose): FieldError[] {
  const errors: FieldError[] = []
  const size = base64Length(spec.caBundle)
  if (size > 0) {
    const detail = 'local APIServices may not have a caBundle'
    errors.push(invalid(path.child('caBundle'), `${size} bytes`, detail))
  }
  if (spec.insecureSkipTLSVerify) {
    const detail = 'local APIServices may not have insecureSkipTLSVerify'
    errors.push(invalid(path.child('insecureSkipTLSVerify'), true, detail))
  }
  return errors
}

function checkRemote(spec: Loose): FieldError[] {
  const { namespace, name, port = 0 } = spec.service
  const at = path.child('service')
  const errors: FieldError[] = []
  if (!namespace) errors.push(required(at.child('namespace')))
  if (!name) errors.push(required(at.child('name')))
  const problems = portNumber(port)
  if (problems.length > 0) {
    errors.push(invalid(at.child('port'), port, `port is not valid: ${problems.join(', ')}`))
  }
  if (spec.insecureSkipTLSVerify && base64Length(spec.caBundle) > 0) {
    const detail = 'may not be true if caBundle is present'
    errors.push(invalid(path.child('insecureSkipTLSVerify'), true, detail))
  }
  return errors
}

function checkStatus(object: KubeObject): FieldError[] {
  const statuses = ['True', 'False', 'Unknown']
  const conditions: Loose[] = object.status?.conditions ?? []
  const at = FieldPath.of('status', 'conditions')
  return conditions.flatMap(({ status = '' }, i) =>
    statuses.includes(status) ? [] : [notSupported(at.index(i).child('status'), status, statuses)],
  )
}

/** The condition of a local APIService, which is always available. */
const localCondition = (now: string): Loose => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: now,
  reason: 'Local',
  message: 'Local APIServices are always available',
})

export const apiServiceBehaviour: Behaviour = {
  metadataLast: true,
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = object.spec?.service ? {} : { conditions: [localCondition(context.now)] }
  },
  prepareForUpdate: keepStatus,
  validateCreate: check,
  validateUpdate: (next, old) => [...checkPlainMetadataUpdate(next, old), ...check(next)],
  subresources: {
    status: {
      resetFields: [['spec'], ['metadata']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        const [to, from] = [next.metadata as Loose, old.metadata as Loose]
        for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences']) {
          if (from[field] === undefined) delete to[field]
          else to[field] = structuredClone(from[field])
        }
      },
      validateUpdate: (next, old) => [...checkPlainMetadataUpdate(next, old), ...checkStatus(next)],
    },
  },
}
