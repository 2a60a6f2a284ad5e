/**
 * GET with `export`, in releases before 1.21: the object as a client would create it, without
 * fields that the cluster has set. Loaded on first use. It stores and validates nothing.
 */
import { FieldPath } from '#api/field-path.ts'
import { invalid } from '#api/field-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { badRequest, invalidObject, notFound } from '#api/status-error.ts'
import type { User } from '#access/user.ts'
import { type Context, hubOf, type Kind } from '#kinds/kind.ts'
import { type Answer, answerObject } from './answer.ts'
import { encode } from './commit.ts'
import { currentObject } from './current.ts'
import { contextOf, type Server, type Target } from './server.ts'

/** The changes that a kind's export makes. `prepared`: the strategy for new objects runs first. */
interface Rule {
  readonly prepared: boolean
  /** Applied unless `exact` is set. */
  readonly strip?: (object: KubeObject, kind: Kind) => void
  /** Always applied. */
  readonly always?: (object: KubeObject) => void
}

/** Replaces the status by an empty one, with the fields that Go always writes. */
const withoutStatus = (object: KubeObject, kind: Kind) => {
  object.status = hubOf(kind).conform({}).object.status ?? {}
}

const rules: Readonly<Record<string, Rule>> = {
  certificatesigningrequests: { prepared: true, strip: withoutStatus },
  limitranges: { prepared: false },
  nodes: { prepared: true, strip: withoutStatus },
  podtemplates: { prepared: false },
  secrets: { prepared: true, strip: refuseTokens },
  services: { prepared: false, always: withoutServiceStatus, strip: withoutAddresses },
}

const withoutRule: Rule = { prepared: true }

/** The storage wrapper of RBAC kinds does not support export. */
const isWrapped = ({ kind: { group } }: Target): boolean => group === 'rbac.authorization.k8s.io'

export async function exportObject(
  server: Server,
  target: Target,
  user: User,
  exact: boolean,
): Promise<Answer> {
  const { kind, name } = target
  if (target.subresource !== '' || isWrapped(target)) {
    throw badRequest(`export of ${goQuote(kind.plural)} is not supported`)
  }
  const live = await currentObject(server, target)
  if (live === undefined) throw notFound(kind, name)
  const { object } = live
  forgetMetadata(object, exact)
  applyRule(target, object, exact, exportContext(server, target, user))
  const encoded = await encode(server, kind, object)
  return answerObject(200, kind, { ...encoded.view, namespace: target.namespace, name })
}

function forgetMetadata({ metadata }: KubeObject, exact: boolean): void {
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.selfLink
  metadata.creationTimestamp = null as never
  if (exact) return
  delete metadata.namespace
  if (metadata.generateName) delete metadata.name
}

function applyRule({ kind }: Target, object: KubeObject, exact: boolean, context: Context): void {
  const rule = (kind.origin === 'built-in' && rules[kind.plural]) || withoutRule
  if (rule.prepared) kind.resource.behaviour.prepareForCreate?.(object, context)
  rule.always?.(object)
  if (!exact) rule.strip?.(object, kind)
}

const exportContext = (server: Server, target: Target, user: User): Context =>
  contextOf(server, {
    target,
    user,
    body: () => ({}),
    options: { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false },
    warnings: [],
    auditAnnotations: new Map(),
  })

const accountUid = 'kubernetes.io/service-account.uid'

function refuseTokens(secret: KubeObject): void {
  const isToken = secret.type === 'kubernetes.io/service-account-token'
  if (!isToken && !secret.metadata.annotations?.[accountUid]) return
  throw invalidObject({ group: '', kind: 'Secret' }, secret.metadata.name ?? '', [
    invalid(FieldPath.of('type'), secret, 'can not export service account secrets'),
  ])
}

function withoutServiceStatus(service: KubeObject): void {
  service.status = { loadBalancer: {} }
}

function withoutAddresses({ spec }: KubeObject): void {
  const { clusterIP, clusterIPs = [clusterIP], type, ports } = spec
  if (clusterIPs.length > 0 && clusterIPs[0] !== 'None') {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  if (type === 'NodePort') for (const port of ports ?? []) delete port.nodePort
}
