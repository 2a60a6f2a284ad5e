/**
 * The ServiceAccount plugin. A pod runs as the service account that it names, or as `default`. The
 * account's token, CA certificate and namespace are mounted into every container, unless the pod or
 * the account opts out.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { podSecretNames } from '#access/authorize/pod-references.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { ApiError, serverTimeout } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { flatText } from '#base/flat-text.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { lookupProblem } from './lookup-problem.ts'
import { refusal } from './refusal.ts'

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
const volumePrefix = 'kube-api-access-'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'
/** The texts that strconv.ParseBool accepts as true. */
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
/** With this gate, bound tokens are mounted instead of Secrets. On by default since 1.21. */
const boundTokens = 'BoundServiceAccountTokenVolume'
/** An hour and seven seconds: a lifetime that identifies these tokens in the log. */
const tokenSeconds = 3607
const plainTokenSeconds = 3600
const tokensLiveLonger = change('tokens in pods live longer, so that their clients can be warned', {
  since: 19,
})
const volumesHaveDashes = change('volumes of tokens have a dash for each dot of the Secret', {
  since: 19,
})

/**
 * How often the plugin looks for the default account of a namespace, which a controller creates
 * soon after the namespace.
 */
const defaultLooksMax = 10
/** The pause between two attempts: the middle of kube-apiserver's random range. */
const lookAgainMs = 150

const limitsEphemeral = change('ephemeral containers use only secrets that the account names', {
  since: 24,
})
const limitsWholeSecrets = change(
  'whole secrets as variables are limited to those of the account',
  {
    since: 27,
  },
)

export interface ServiceAccountOptions {
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** Five random characters for the volume name. */
  readonly randomSuffix: () => string
}

export function serviceAccountPlugin(options: ServiceAccountOptions): AdmissionPlugin {
  const release = releaseOf(options.release)
  // One volume name for all pods, so that replicas of a template are equal. It must differ from the
  // pod's other volumes.
  let known: string | undefined
  const volumeName = () => (known ??= flatText(`${volumePrefix}${options.randomSuffix()}`))
  return {
    name: 'ServiceAccount',
    mutate(request, reader) {
      if (!isNewPod(request)) return
      return mutatePod(request, reader, { ...options, volumeName })
    },
    validate(request, reader) {
      if (isNewPod(request)) return validatePod(request, reader, release)
      if (release.has(limitsEphemeral) && addsContainers(request))
        return validateEphemeral(request, reader, release)
    },
  }
}

const isNewPod = ({ operation, kind, subresource }: AdmissionRequest) =>
  operation === 'CREATE' && kind.group === '' && kind.plural === 'pods' && subresource === ''

const refuse = refusal

const isMirror = (pod: KubeObject) => pod.metadata.annotations?.[mirrorAnnotation] !== undefined

interface Mounting extends ServiceAccountOptions {
  /** The name of the projected volume with the token. */
  readonly volumeName: () => string
}

function mutatePod(
  request: AdmissionRequest,
  reader: ObjectReader,
  mounting: Mounting,
): Awaitable<void> {
  const pod = request.object as KubeObject
  if (isMirror(pod)) return validateMirror(request, pod)
  pod.spec.serviceAccountName ||= 'default'
  pod.spec.serviceAccount = pod.spec.serviceAccountName
  return after(accountOf(request, reader), (account) => {
    if (!pod.spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      pod.spec.imagePullSecrets = structuredClone(account.imagePullSecrets)
    }
    if (!shouldMount(pod, account))
      return limitSecrets(request, pod, account, releaseOf(mounting.release))
    const secret = mounting.feature(boundTokens) ? undefined : secretOf(request, reader, account)
    return after(secret, (name) => {
      mountToken(pod, name, mounting)
      limitSecrets(request, pod, account, releaseOf(mounting.release))
    })
  })
}

function accountOf(
  request: AdmissionRequest,
  reader: ObjectReader,
  looks = 1,
): Awaitable<KubeObject> {
  const name = (request.object as KubeObject).spec.serviceAccountName as string
  return after(reader.get('', 'serviceaccounts', request.namespace, name), (account) => {
    if (account !== undefined) return account
    if (name === 'default' && looks < defaultLooksMax)
      return pause(lookAgainMs).then(() => accountOf(request, reader, looks + 1))
    const why = lookupProblem(name) ?? `serviceaccount "${name}" not found`
    throw refuse(request, `error looking up service account ${request.namespace}/${name}: ${why}`)
  })
}

const shouldMount = (pod: KubeObject, account: KubeObject): boolean =>
  pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true

/** Mounts the token. `secret` is the name of the token Secret, in releases before bound tokens. */
function mountToken(pod: KubeObject, secret: string | undefined, mounting: Mounting): void {
  const volumes = (pod.spec.volumes ?? []) as Loose[]
  const there = volumes.find((volume) =>
    secret === undefined
      ? volume.name?.startsWith(volumePrefix)
      : volume.secret?.secretName === secret,
  )
  const volume =
    there ??
    (secret === undefined
      ? { name: mounting.volumeName(), projected: projection(mounting.release) }
      : { name: volumeNameOf(secret, volumes, mounting), secret: { secretName: secret } })
  let mounted = false
  for (const container of [
    ...(pod.spec.initContainers ?? []),
    ...(pod.spec.containers ?? []),
  ] as Loose[]) {
    const mounts: Loose[] = container.volumeMounts ?? []
    if (mounts.some((mount) => mount.mountPath === mountPath)) continue
    container.volumeMounts = [...mounts, { name: volume.name, readOnly: true, mountPath }]
    mounted = true
  }
  if (mounted && there === undefined) pod.spec.volumes = [...(pod.spec.volumes ?? []), volume]
}

/** The volume has the name of the Secret, if that name is free. */
function volumeNameOf(
  secret: string,
  volumes: readonly Loose[],
  { release, randomSuffix }: Mounting,
): string {
  const name = releaseOf(release).has(volumesHaveDashes) ? secret.replaceAll('.', '-') : secret
  return volumes.some((volume) => volume.name === name) ? `${name}-${randomSuffix()}` : name
}

const projection = (release: number) => ({
  sources: [
    {
      serviceAccountToken: {
        expirationSeconds: releaseOf(release).has(tokensLiveLonger)
          ? tokenSeconds
          : plainTokenSeconds,
        path: 'token',
      },
    },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [
          { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
        ],
      },
    },
  ],
})

/**
 * Whether the Secret has a token of the account. The name must match; the uid only if the
 * annotation has one.
 */
function isTokenOf({ type, metadata }: KubeObject, account: KubeObject): boolean {
  const stated = (what: string) => metadata.annotations?.[`kubernetes.io/service-account.${what}`]
  return (
    type === 'kubernetes.io/service-account-token' &&
    stated('name') === account.metadata.name &&
    (stated('uid') || account.metadata.uid) === account.metadata.uid
  )
}

/** Before bound tokens: the Secret with the account's token, which a controller creates. */
async function secretOf(
  request: AdmissionRequest,
  reader: ObjectReader,
  account: KubeObject,
): Promise<string> {
  for (const { name } of (account.secrets ?? []) as Loose[]) {
    const secret = await reader.get('', 'secrets', request.namespace, name)
    if (secret !== undefined && isTokenOf(secret, account)) return name
  }
  const why = `No API token found for service account "${account.metadata.name}", retry after the token is automatically created and added to the service account`
  const refusal = serverTimeout({ group: '', plural: 'serviceaccounts' }, 'create pod', 1)
  refusal.message = why
  throw refusal
}

const addsContainers = ({ operation, kind, subresource }: AdmissionRequest) =>
  operation === 'UPDATE' &&
  kind.group === '' &&
  kind.plural === 'pods' &&
  subresource === 'ephemeralcontainers'

/** kube-apiserver reports these problems as internal errors, not as rejections. */
function validateEphemeral(
  request: AdmissionRequest,
  reader: ObjectReader,
  release: Release,
): Awaitable<void> {
  const { spec } = request.object as KubeObject
  requireAccountName(request)
  return after(accountOf(request, reader), (account) => {
    if (!enforcesSecrets(account)) return
    const problem = secretProblem('ephemeral container', spec.ephemeralContainers, account, release)
    if (problem !== undefined) throw new ApiError(500, '', problem)
  })
}

function requireAccountName(request: AdmissionRequest): void {
  const { metadata, spec } = request.object as KubeObject
  if (spec.serviceAccountName) return
  throw refuse(
    request,
    `no service account specified for pod ${request.namespace}/${metadata.name ?? ''}`,
  )
}

function validatePod(
  request: AdmissionRequest,
  reader: ObjectReader,
  release: Release,
): Awaitable<void> {
  const pod = request.object as KubeObject
  if (isMirror(pod)) return validateMirror(request, pod)
  if (release.has(limitsEphemeral)) requireAccountName(request)
  return after(accountOf(request, reader), (account) =>
    limitSecrets(request, pod, account, release),
  )
}

/** A mirror of a static pod must not use API objects. */
function validateMirror(request: AdmissionRequest, pod: KubeObject): void {
  const { spec } = pod
  if (spec.serviceAccountName)
    throw refuse(request, 'a mirror pod may not reference service accounts')
  if (podSecretNames(pod).size > 0) throw refuse(request, 'a mirror pod may not reference secrets')
  for (const volume of (spec.volumes ?? []) as Loose[]) {
    const tokens = ((volume.projected?.sources ?? []) as Loose[]).some(
      (source) => source.serviceAccountToken,
    )
    if (tokens)
      throw refuse(request, 'a mirror pod may not use ServiceAccountToken volume projections')
  }
}

/** If the account enforces mountable secrets, its pods may use only the secrets that it lists. */
function limitSecrets(
  request: AdmissionRequest,
  { spec }: KubeObject,
  account: KubeObject,
  release: Release,
): void {
  if (!enforcesSecrets(account)) return
  const mountable = new Set(((account.secrets ?? []) as Loose[]).map(({ name }) => name))
  const pullable = new Set(((account.imagePullSecrets ?? []) as Loose[]).map(({ name }) => name))
  const name = spec.serviceAccountName
  for (const volume of (spec.volumes ?? []) as Loose[]) {
    if (volume.secret == null) continue
    const { secretName: secret = '' } = volume.secret
    if (mountable.has(secret)) continue
    throw refuse(
      request,
      `volume with secret.secretName="${secret}" is not allowed because service account ${name} does not reference that secret`,
    )
  }
  for (const [list, label] of [
    ['initContainers', 'init container'],
    ['containers', 'container'],
  ] as const) {
    const problem = secretProblem(label, spec[list], account, release)
    if (problem !== undefined) throw refuse(request, problem)
  }
  for (const [i, { name: secret = '' }] of ((spec.imagePullSecrets ?? []) as Loose[]).entries()) {
    if (pullable.has(secret)) continue
    throw refuse(
      request,
      `imagePullSecrets[${i}].name="${secret}" is not allowed because service account ${name} does not reference that imagePullSecret`,
    )
  }
}

const enforcesSecrets = ({ metadata }: KubeObject): boolean =>
  trueWords.has(metadata.annotations?.[enforceAnnotation] ?? '')

/**
 * The error for the first environment variable that uses a secret which the account does not list.
 */
function secretProblem(
  label: string,
  containers: Loose[] | undefined,
  account: KubeObject,
  release: Release,
): string | undefined {
  const mountable = new Set(((account.secrets ?? []) as Loose[]).map(({ name }) => name))
  const problem = (where: string, { name: secret = '' }: Loose) =>
    mountable.has(secret)
      ? undefined
      : `${where} referencing secret.secretName="${secret}" is not allowed because service account ${account.metadata.name} does not reference that secret`
  for (const { name, env, envFrom } of containers ?? []) {
    for (const { name: variable, valueFrom } of (env ?? []) as Loose[]) {
      const { secretKeyRef } = valueFrom ?? {}
      const found =
        secretKeyRef && problem(`${label} ${name} with envVar ${variable}`, secretKeyRef)
      if (found !== undefined) return found
    }
    if (!release.has(limitsWholeSecrets)) continue
    for (const { secretRef } of (envFrom ?? []) as Loose[]) {
      const found = secretRef && problem(`${label} ${name} with envFrom`, secretRef)
      if (found !== undefined) return found
    }
  }
  return undefined
}
