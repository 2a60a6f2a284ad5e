/** Ingress, on networking.k8s.io/v1: rules by host and path, and certificates. */
import { pathsHaveTypes } from '#kinds/stored-fields.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote } from '#api/go-syntax.ts'
import { isIp } from '#api/ip-address.ts'
import {
  dns1123Subdomain,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  wildcardDns1123Subdomain,
} from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { legacyIpWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkLoadBalancerStatus } from '#kinds/core/service/load-balancer-status.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { checkEarlySpec, leniencyOfFirst } from './early-ingress.ts'
import { type BackendNaming, checkBackend } from './ingress-backend.ts'
import { checkTypedPath } from './ingress-path.ts'

const classKey = 'kubernetes.io/ingress.class'

/** Relaxed rules for the beta versions and for objects that were created through them. */
interface Leniency extends BackendNaming {
  readonly anySecretName: boolean
  readonly anyWildcardRule: boolean
}

const isBeta = (context: Context): boolean =>
  context.requestApiVersion === 'networking.k8s.io/v1beta1' ||
  context.requestApiVersion === 'extensions/v1beta1'

/** Existing objects keep names that were valid when they were written. */
function allowsRelaxedNames({ feature }: Context, old: KubeObject | undefined): boolean {
  if (feature('RelaxedServiceNameValidation')) return true
  const rules: Loose[] = old?.spec?.rules ?? []
  const backends: Loose[] = [
    old?.spec?.defaultBackend,
    ...rules.flatMap(({ http }) => ((http?.paths ?? []) as Loose[]).map(({ backend }) => backend)),
  ]
  return backends.some((backend) => {
    const name: string | undefined = backend?.service?.name
    if (name === undefined || nameIsDns1035Label(name, false).length === 0) return false
    return nameIsDnsLabel(name, false).length === 0
  })
}

function leniencyOf(context: Context, old?: KubeObject): Leniency {
  const beta = isBeta(context)
  const tls: Loose[] = old?.spec?.tls ?? []
  const rules: Loose[] = old?.spec?.rules ?? []
  const relaxedNames = allowsRelaxedNames(context, old)
  const strict = { beta, relaxedNames, anySecretName: false, anyWildcardRule: false }
  return {
    beta,
    relaxedNames,
    anySecretName: beta || tls.some((one) => secretNameProblems(one.secretName).length > 0),
    anyWildcardRule:
      beta ||
      rules.some(
        (rule) =>
          rule.host?.includes('*') && checkPaths(rule.http, FieldPath.root, strict).length > 0,
      ),
  }
}

const secretNameProblems = (name: string | undefined): string[] =>
  name ? nameIsDnsSubdomain(name, false) : []

const hostProblems = (host: string): string[] =>
  host.includes('*') ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host)

function checkSpec(spec: Loose, leniency: Leniency): FieldError[] {
  const path = FieldPath.of('spec')
  const backendField = leniency.beta ? 'backend' : 'defaultBackend'
  const rules: Loose[] = spec.rules ?? []
  const errors: FieldError[] = []
  if (rules.length === 0 && !spec.defaultBackend) {
    const detail = `either \`${backendField}\` or \`rules\` must be specified`
    const shown = wasWrittenEmpty(spec, 'rules') ? '{}' : '(nil)'
    errors.push(
      invalid(
        path,
        asGo(`[]networking.IngressRule${shown}`, shown === '{}' ? '[]' : 'null'),
        detail,
      ),
    )
  }
  if (spec.defaultBackend) {
    errors.push(...checkBackend(spec.defaultBackend, path.child(backendField), leniency))
  }
  for (const [i, rule] of rules.entries()) {
    errors.push(...checkRule(rule, path.child('rules').index(i), leniency))
  }
  for (const [i, tls] of ((spec.tls ?? []) as Loose[]).entries()) {
    errors.push(...checkTls(tls, path.child('tls').index(i), leniency))
  }
  const className: string | undefined = spec.ingressClassName
  if (className !== undefined) {
    const problems = nameIsDnsSubdomain(className, false)
    errors.push(...each(path.child('ingressClassName'), className, problems))
  }
  return errors
}

function checkRule(rule: Loose, path: FieldPath, leniency: Leniency): FieldError[] {
  const host: string = rule.host ?? ''
  const errors: FieldError[] = []
  if (host !== '') {
    const at = path.child('host')
    if (isIp(host)) errors.push(invalid(at, host, 'must be a DNS name, not an IP address'))
    errors.push(...each(at, host, hostProblems(host)))
  }
  if (host.includes('*') && leniency.anyWildcardRule) return errors
  return [...errors, ...checkPaths(rule.http, path.child('http'), leniency)]
}

function checkPaths(http: Loose | undefined, path: FieldPath, leniency: Leniency): FieldError[] {
  if (!http) return []
  const paths: Loose[] = http.paths ?? []
  const at = path.child('paths')
  if (paths.length === 0) return [required(at)]
  return paths.flatMap((one, i) => checkPath(one, at.index(i), leniency))
}

function checkPath(one: Loose, path: FieldPath, leniency: Leniency): FieldError[] {
  if (typeof one.pathType !== 'string') return checkTypedPath(one, path)
  return [
    ...checkTypedPath(one, path),
    ...checkBackend(one.backend ?? {}, path.child('backend'), leniency),
  ]
}

function checkTls(tls: Loose, path: FieldPath, leniency: Leniency): FieldError[] {
  const hosts: string[] = tls.hosts ?? []
  const errors = hosts.flatMap((host, i) =>
    each(path.child('hosts').index(i), host, hostProblems(host)),
  )
  if (leniency.anySecretName) return errors
  const problems = secretNameProblems(tls.secretName)
  return [...errors, ...each(path.child('secretName'), tls.secretName, problems)]
}

const classCanBeNamedTwice = change('annotation and field can name the same class of ingress', {
  since: 27,
})
const warnsOfAddresses = change('warnings about addresses in the status of an ingress', {
  since: 33,
})

function checkClassStatedOnce(ingress: KubeObject, release: number): FieldError[] {
  const annotation = ownValue(ingress.metadata.annotations, classKey)
  const name = ingress.spec?.ingressClassName
  if (annotation === undefined || name === undefined) return []
  const path = FieldPath.of('annotations', classKey)
  if (!releaseOf(release).has(classCanBeNamedTwice)) {
    return [invalid(path, annotation, 'can not be set when the class field is also set')]
  }
  const detail = 'must match `ingressClassName` when both are specified'
  return annotation === name ? [] : [invalid(path, annotation, detail)]
}

function classWarnings(ingress: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(classCanBeNamedTwice)) return []
  const isNamedOnce = ingress.spec?.ingressClassName === undefined
  if (!isNamedOnce || ownValue(ingress.metadata.annotations, classKey) === undefined) return []
  return [
    `annotation ${goQuote(classKey)} is deprecated, please use 'spec.ingressClassName' instead`,
  ]
}

function statusWarnings(ingress: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(warnsOfAddresses)) return []
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  const entries: Loose[] = ingress.status?.loadBalancer?.ingress ?? []
  return entries.flatMap(({ ip }, i) => (ip ? legacyIpWarnings(ip, path.index(i), release) : []))
}

const followsStableRules = change('Ingress has the rules of networking.k8s.io/v1', { since: 19 })

function checkSpecOf(ingress: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const spec: Loose = ingress.spec ?? {}
  if (releaseOf(context.release).has(followsStableRules))
    return checkSpec(spec, leniencyOf(context, old))
  const typed = releaseOf(context.release).has(pathsHaveTypes)
    ? leniencyOfFirst(old?.spec)
    : undefined
  return checkEarlySpec(spec, typed)
}

export const ingressBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = { loadBalancer: {} }
    object.metadata.generation = 1
  },
  prepareForUpdate(next, old) {
    keepStatus(next, old)
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: (object, context) => [
    ...checkSpecOf(object, context),
    ...checkClassStatedOnce(object, context.release),
  ],
  validateUpdate(next, old, context) {
    const [moved, own] = [checkMetadataUpdate(next, old), checkSpecOf(next, context, old)]
    const metadata = checkMetadata(next, true, nameIsDnsSubdomain)
    if (releaseOf(context.release).has(pathsHaveTypes)) return [...moved, ...metadata, ...own]
    // The early releases check a changed ingress whole, then once more together with what may not
    // change.
    return [...metadata, ...own, ...moved, ...own]
  },
  warningsOnCreate: classWarnings,
  subresources: {
    status: {
      warningsOnUpdate: (next, _old, context) => statusWarnings(next, context),
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, old, context) => [
        ...checkMetadataUpdate(next, old),
        ...checkLoadBalancerStatus(next, context, old),
      ],
    },
  },
}
