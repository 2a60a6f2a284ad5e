/** NetworkPolicy: peers and ports traffic is allowed from and to. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { cidrContains, formatIp, parseCidr } from '#api/ip-address.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain, portName, portNumber } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { hasWrittenEmpty } from '#api/written-empty.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import {
  checkLegacyCidr,
  legacyCidrWarnings,
  parseLegacyCidr,
} from '#kinds/all-kinds/legacy-addresses.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']
const typesErrOnce = change('each unsupported policy type of a NetworkPolicy is one error', {
  since: 18,
})

const showsEndPort = change('errors of the endPort of a NetworkPolicy show it, not the port', {
  since: 37,
})
const readsLegacyCidrs = change('errors of the ipBlock of a NetworkPolicy have examples', {
  since: 33,
})

function check(policy: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const { release } = context
  const path = FieldPath.of('spec')
  const spec = policy.spec ?? {}
  const types: string[] = spec.policyTypes ?? []
  const typesPath = path.child('policyTypes')
  const kept = blocksOf(old).flatMap(({ block }) => [block.cidr, ...(block.except ?? [])])
  const checkBlock: PeerChecks['checkBlock'] = (block, at) =>
    releaseOf(release).has(readsLegacyCidrs)
      ? checkIpBlock(block, at, context, kept)
      : checkOlderIpBlock(block, at, release)
  const checkValues = checksSelectorValues(releaseOf(release), old?.spec?.podSelector)
  const checks = { checkValues, checkBlock, showsEnd: releaseOf(release).has(showsEndPort) }
  const errors = [
    ...validateLabelSelector(spec.podSelector, path.child('podSelector'), checkValues),
    ...checkRules(spec.ingress ?? [], 'from', path.child('ingress'), checks),
    ...checkRules(spec.egress ?? [], 'to', path.child('egress'), checks),
  ]
  if (types.length > policyTypes.length) {
    const shown = asGo(goStrings(types, 'networking.PolicyType'))
    return [...errors, invalid(typesPath, shown, 'may not specify more than two policyTypes')]
  }
  const wrong = types.filter((type) => !policyTypes.includes(type))
  for (const [i, type] of types.entries()) {
    // Earlier releases report every policy type once for each invalid one.
    const faults = releaseOf(release).has(typesErrOnce)
      ? wrong.filter((one) => one === type).slice(0, 1)
      : wrong
    errors.push(...faults.map(() => notSupported(typesPath.index(i), type, policyTypes)))
  }
  return errors
}

function checkRules(
  rules: Loose[],
  peerField: string,
  path: FieldPath,
  checks: PeerChecks,
): FieldError[] {
  return rules.flatMap((rule, i) => {
    const ports: Loose[] = rule.ports ?? []
    const peers: Loose[] = rule[peerField] ?? []
    const at = path.index(i)
    return [
      ...ports.flatMap((port, j) => checkPort(port, at.child('ports').index(j), checks.showsEnd)),
      ...peers.flatMap((peer, j) => checkPeer(peer, at.child(peerField).index(j), checks)),
    ]
  })
}

function checkPort(
  { protocol, port, endPort }: Loose,
  path: FieldPath,
  showsEnd: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  if (protocol !== undefined && !protocols.includes(protocol)) {
    errors.push(notSupported(path.child('protocol'), protocol, protocols))
  }
  const end = path.child('endPort')
  const refuse = (why: string) =>
    endPort === undefined
      ? []
      : [invalid(end, endPort, `may not be specified when \`port\` is ${why}`)]
  if (port === undefined) return [...errors, ...refuse('not specified')]
  if (typeof port === 'string') {
    return [...errors, ...refuse('non-numeric'), ...each(path.child('port'), port, portName(port))]
  }
  errors.push(...each(path.child('port'), port, portNumber(port)))
  if (endPort === undefined) return errors
  if (endPort < port)
    errors.push(invalid(end, showsEnd ? endPort : port, 'must be greater than or equal to `port`'))
  return [...errors, ...each(end, endPort, portNumber(endPort))]
}

function checkPeer(
  { podSelector, namespaceSelector, ipBlock }: Loose,
  path: FieldPath,
  { checkValues, checkBlock }: PeerChecks,
): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, path.child('podSelector'), checkValues),
    ...validateLabelSelector(namespaceSelector, path.child('namespaceSelector'), checkValues),
    ...(ipBlock ? checkBlock(ipBlock, path.child('ipBlock')) : []),
  ]
  const count = [podSelector, namespaceSelector, ipBlock].filter(Boolean).length
  if (count === 0) errors.push(required(path, 'must specify a peer'))
  else if (count > 1 && ipBlock) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'))
  }
  return errors
}

const exceptionsAreSmaller = change('an except of a NetworkPolicy must be smaller than its cidr', {
  since: 18,
})

interface PeerChecks {
  readonly showsEnd: boolean
  readonly checkValues: boolean
  readonly checkBlock: (block: Loose, path: FieldPath) => FieldError[]
}

/** `kept` are the blocks of the old policy, which an update may keep. */
function checkIpBlock(
  block: Loose,
  path: FieldPath,
  context: Context,
  kept: readonly string[],
): FieldError[] {
  const text: string = block.cidr ?? ''
  const at = path.child('cidr')
  if (text === '') return [required(at)]
  const errors = checkLegacyCidr(text, at, context, kept)
  const cidr = parseLegacyCidr(text)
  if (cidr === undefined) return errors
  for (const [i, exceptText] of ((block.except ?? []) as string[]).entries()) {
    const exceptAt = path.child('except').index(i)
    errors.push(...checkLegacyCidr(exceptText, exceptAt, context, kept))
    const except = parseLegacyCidr(exceptText)
    if (except === undefined) continue
    if (!cidrContains(cidr, except.network) || cidr.ones >= except.ones) {
      errors.push(invalid(exceptAt, exceptText, 'must be a strict subset of `cidr`'))
    }
  }
  return errors
}

/** With the path of each. */
function blocksOf(policy: KubeObject | undefined): { block: Loose; path: FieldPath }[] {
  const within = (field: string, peers: string) =>
    ((policy?.spec?.[field] ?? []) as Loose[]).flatMap((rule, i) =>
      ((rule[peers] ?? []) as Loose[]).flatMap(({ ipBlock }, j) => {
        const path = FieldPath.of('spec', field).index(i).child(peers).index(j).child('ipBlock')
        return ipBlock ? [{ block: ipBlock as Loose, path }] : []
      }),
    )
  return [...within('ingress', 'from'), ...within('egress', 'to')]
}

function blockWarnings(policy: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(readsLegacyCidrs)) return []
  return blocksOf(policy).flatMap(({ block, path }) => [
    ...legacyCidrWarnings(block.cidr ?? '', path.child('cidr'), release),
    ...((block.except ?? []) as string[]).flatMap((text, i) =>
      legacyCidrWarnings(text, path.child('except').index(i), release),
    ),
  ])
}

function checkOlderIpBlock(block: Loose, path: FieldPath, release: number): FieldError[] {
  const text: string = block.cidr ?? ''
  const at = path.child('cidr')
  if (text === '') return [required(at)]
  const cidr = parseCidr(text)
  if (cidr === undefined) return [invalid(at, text, 'not a valid CIDR')]
  const errors: FieldError[] = []
  for (const [i, exceptText] of ((block.except ?? []) as string[]).entries()) {
    const exceptAt = path.child('except').index(i)
    const except = parseCidr(exceptText)
    if (except === undefined) {
      return [...errors, invalid(exceptAt, exceptText, 'not a valid CIDR')]
    }
    if (!releaseOf(release).has(exceptionsAreSmaller)) {
      if (cidrContains(cidr, except.network)) continue
      errors.push(invalid(exceptAt, asGo(formatIp(except.network)), 'not within CIDR range'))
    } else if (!cidrContains(cidr, except.network) || cidr.ones >= except.ones) {
      errors.push(invalid(exceptAt, exceptText, 'must be a strict subset of `cidr`'))
    }
  }
  return errors
}

const portsOf = (policy: KubeObject | undefined): Loose[] =>
  [...(policy?.spec?.ingress ?? []), ...(policy?.spec?.egress ?? [])].flatMap(
    (rule: Loose) => rule.ports ?? [],
  )

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  if (context.feature('NetworkPolicyEndPort')) return
  if (portsOf(old).some((port) => port.endPort !== undefined)) return
  for (const port of portsOf(next)) delete port.endPort
}

/**
 * Whether the spec differs only in empty and absent lists, which kube-apiserver distinguishes. This
 * is the case if the client wrote an empty list. It is nearly always the case for
 * extensions/v1beta1, whose conversion creates empty lists.
 */
function isSpelledDifferently({ spec = {} }: KubeObject, { requestApiVersion }: Context): boolean {
  if (hasWrittenEmpty(spec)) return true
  if (requestApiVersion !== 'extensions/v1beta1') return false
  const { ingress = [], egress = [] } = spec as { ingress?: Loose[]; egress?: Loose[] }
  if (ingress.length === 0 || egress.length === 0) return true
  return (
    [...ingress, ...egress].some(({ ports }) => !ports?.length) ||
    egress.some(({ to }) => !to?.length)
  )
}

export const networkPolicyBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropDisabled(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabled(next, old, context)
    raiseGeneration(next, old, ['spec'])
    if (isSpelledDifferently(next, context)) {
      next.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
  },
  validateCreate: check,
  warningsOnCreate: blockWarnings,
  warningsOnUpdate: (next, _old, context) => blockWarnings(next, context),
  // As in kube-apiserver, the spec is validated twice: before and after the metadata changes.
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(next, context, old),
    ...checkMetadataUpdate(next, old),
    ...check(next, context, old),
  ],
}
