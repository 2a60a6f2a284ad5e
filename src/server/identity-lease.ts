/**
 * The Lease of this server in kube-system, by which others know that it is alive, and the removal
 * of Leases whose servers are gone.
 */
import { createHash } from 'node:crypto'
import { change, type Release } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'

/** kube-apiserver uses the same duration and intervals. */
const durationSeconds = 3600
const renewMs = 10_000
const collectMs = 3_600_000
/** A server that is alone with its store has no peers that look at the Lease. */
const renewAloneMs = 1_200_000

const leases = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }
const namespace = 'kube-system'
const component = 'kube-apiserver'
const hostLabel = 'kubernetes.io/hostname'

const hasShortName = change("the name of an API server's Lease begins with apiserver", {
  since: 27,
})

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes])
}

export const identityLabel = (release: Release): string =>
  release.has(hasShortName) ? 'apiserver.kubernetes.io/identity' : 'k8s.io/component'

/** `apiserver-` and the beginning of a digest of the host's name. */
export function identityOf(hostname: string, release: Release): string {
  const hashed = release.has(hasShortName)
    ? Buffer.concat([withLength(hostname), withLength(component)])
    : hostname
  const digest = createHash('sha256').update(hashed).digest().subarray(0, 16)
  return `${release.has(hasShortName) ? '' : 'kube-'}apiserver-${base32(digest)}`
}

/** Lower case, without padding. */
function base32(bytes: Uint8Array): string {
  const digits = 'abcdefghijklmnopqrstuvwxyz234567'
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  const length = Math.ceil((bytes.length * 8) / 5)
  bits <<= BigInt(length * 5 - bytes.length * 8)
  let text = ''
  for (let i = length - 1; i >= 0; i--) text += digits[Number((bits >> BigInt(i * 5)) & 31n)]
  return text
}

export interface IdentityParts {
  readonly client: ApiClient
  readonly release: Release
  readonly hostname: string
  /** Where peers reach this server; undefined if requests are not passed to peers. */
  readonly peerAddress: string | undefined
  readonly isAlone: boolean
  readonly newUid: () => string
  readonly nowMs: () => number
  readonly report: (message: string, error: unknown) => void
}

const hasReason = (error: unknown, reason: string) =>
  error instanceof ApiError && error.reason === reason
const isOvertaken = (error: unknown) =>
  hasReason(error, 'Conflict') || hasReason(error, 'AlreadyExists') || hasReason(error, 'NotFound')

export class IdentityLease {
  readonly #parts: IdentityParts
  readonly #name: string
  readonly #holder: string
  #timers: NodeJS.Timeout[] = []
  #isStopped = false

  constructor(parts: IdentityParts) {
    this.#parts = parts
    this.#name = identityOf(parts.hostname, parts.release)
    this.#holder = `${this.#name}_${parts.newUid()}`
  }

  /** Resolves after the first renewal. */
  async start(): Promise<void> {
    const repeat = (turn: () => Promise<void>, everyMs: number) =>
      this.#timers.push(setInterval(() => void this.#reported(turn), everyMs).unref())
    await this.#reported(this.renew)
    if (this.#isStopped) return
    repeat(this.renew, this.#parts.isAlone ? renewAloneMs : renewMs)
    if (!this.#parts.isAlone) repeat(this.collect, collectMs)
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
  }

  renew = async (): Promise<void> => {
    const { client } = this.#parts
    try {
      const there = await client.get(leases, namespace, this.#name)
      // A fork of a cluster, or a server that was just restarted, writes nothing.
      if (this.#parts.isAlone && this.#isRecent(there)) return
      await client.update(leases, this.#renewed(there))
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      await client.create(leases, namespace, this.#renewed({}))
    }
  }

  /** Deletes the Leases of servers that have not renewed them in time. */
  collect = async (): Promise<void> => {
    const { client, release, nowMs } = this.#parts
    const labelSelector = `${identityLabel(release)}=${component}`
    const { items } = await client.list(leases, namespace, { labelSelector })
    for (const { metadata, spec } of items as Loose[]) {
      const renewedMs = Date.parse(spec?.renewTime ?? '')
      const isAlive = renewedMs + (spec?.leaseDurationSeconds ?? 0) * 1000 >= nowMs()
      if (isAlive) continue
      await client
        .delete(leases, namespace, metadata.name, { uid: metadata.uid })
        .catch((error) => {
          if (!isOvertaken(error)) throw error
        })
    }
  }

  #isRecent({ spec }: Loose): boolean {
    const renewedMs = Date.parse(spec?.renewTime ?? '')
    return Math.abs(this.#parts.nowMs() - renewedMs) < renewAloneMs
  }

  #renewed(there: Loose): KubeObject {
    const { release, hostname, peerAddress, nowMs } = this.#parts
    const { metadata = {} } = there
    const peer = { 'kubernetes.io/peer-advertise-address': peerAddress }
    const labels = { [identityLabel(release)]: component, [hostLabel]: hostname }
    const annotations = { ...metadata.annotations, ...(peerAddress !== undefined && peer) }
    return {
      ...there,
      metadata: {
        ...metadata,
        name: this.#name,
        namespace,
        labels: { ...metadata.labels, ...labels },
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      spec: {
        ...there.spec,
        holderIdentity: this.#holder,
        leaseDurationSeconds: durationSeconds,
        renewTime: new Date(nowMs()).toISOString().replace(/Z$/, '000Z'),
      },
    }
  }

  async #reported(turn: () => Promise<void>): Promise<void> {
    await turn().catch((error) => {
      // --runtime-config can disable leases, and peers may write at the same moment.
      if (this.#isStopped || isOvertaken(error)) return
      this.#parts.report('the Lease of this server could not be renewed; it is tried again', error)
    })
  }
}
