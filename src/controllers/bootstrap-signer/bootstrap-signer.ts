/**
 * Signs the ConfigMap `cluster-info` in kube-public, which new nodes read before they trust a
 * server. For every bootstrap token with signing usage it contains a signature of its kubeconfig. A
 * node with the token can verify the kubeconfig.
 */
import { createHmac } from 'node:crypto'
import type { KubeObject } from '#api/object-meta.ts'
import { timestampMs } from '#api/timestamp.ts'
import type { Controller } from '#controllers/controller.ts'
import { bootstrapSecretType } from '#controllers/kept.ts'
import { queueFor, unlessMissing, unlessOvertaken } from '#controllers/queue-for.ts'
import { configMaps, secrets } from '#controllers/resources.ts'

const secretNamespace = 'kube-system'
const namespace = 'kube-public'
const name = 'cluster-info'
const signaturePrefix = 'jws-kubeconfig-'
/** Several secrets are often written together. */
const burstMs = 20

export const bootstrapSigner: Controller = {
  name: 'bootstrapsigner',
  account: 'bootstrap-signer',
  start(parts) {
    const { client, informers, clock } = parts
    const queue = queueFor('bootstrap_signer_queue', parts, async () => {
      const live = await unlessMissing(client.get(configMaps, namespace, name))
      if (live === undefined) return
      const found = await client.list(secrets, secretNamespace, {
        fieldSelector: `type=${bootstrapSecretType}`,
      })
      const data = signedData(live.data ?? {}, tokensOf(found.items, clock.now()))
      if (data === undefined) return
      await unlessOvertaken(client.update(configMaps, { ...live, data }))
    })
    const lookAgain = () => queue.addAfter(name, burstMs)
    informers.rootConfigMaps().listen({
      seen: ({ metadata }) => {
        if (metadata.name === name && metadata.namespace === namespace) lookAgain()
      },
    })
    const look = (secret: { type: string; namespace: string }) => {
      if (secret.type === bootstrapSecretType && secret.namespace === secretNamespace) lookAgain()
    }
    informers.secrets().listen({ changed: look, deleted: look })
  },
}

/** Unexpired bootstrap tokens with signing usage, by token id. */
export function tokensOf(found: readonly KubeObject[], nowMs: number): Map<string, string> {
  const tokens = new Map<string, string>()
  for (const { metadata, data = {} } of found) {
    const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString()
    const [id, secret, expiration] = [text('token-id'), text('token-secret'), text('expiration')]
    if (id === '' || secret === '' || metadata.name !== `bootstrap-token-${id}`) continue
    if (text('usage-bootstrap-signing') !== 'true') continue
    // An invalid time counts as past.
    if (expiration !== '' && !(timestampMs(expiration) > nowMs)) continue
    tokens.set(id, secret)
  }
  return tokens
}

/**
 * The data with exactly the signatures of these tokens; undefined where it has them, or has nothing
 * to sign.
 */
export function signedData(
  data: Readonly<Record<string, string>>,
  tokens: ReadonlyMap<string, string>,
): Record<string, string> | undefined {
  const { kubeconfig } = data
  if (kubeconfig === undefined) return undefined
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix))
  const signatures = [...tokens].map(([id, secret]): [string, string] => [
    `${signaturePrefix}${id}`,
    detachedSignature(kubeconfig, id, secret),
  ])
  const right =
    others.length + signatures.length === Object.keys(data).length &&
    signatures.every(([key, signature]) => Object.hasOwn(data, key) && data[key] === signature)
  return right ? undefined : Object.fromEntries([...others, ...signatures])
}

/** A JSON web signature without its payload: the verifier has the payload. */
function detachedSignature(content: string, id: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const payload = Buffer.from(content).toString('base64url')
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`)
  return `${header}..${signature.digest('base64url')}`
}
