/**
 * Finds the servers that share a store. Each server keeps an object with its address and a TTL of
 * some seconds, under the same key as kube-apiserver. A store with one server does not need this.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'

/** The TTL that kube-apiserver uses. */
const livesSeconds = 15

export interface ServerLeasesParts {
  readonly storage: Pick<Storage, 'get' | 'list' | 'put' | 'delete'>
  readonly parse: (bytes: Buffer) => KubeObject
  /** The prefix of all keys: `/registry`. */
  readonly root: string
  readonly address: string
}

/** The addresses of the servers that share the store. */
export interface KnownServers {
  /** Renews this server's lease. Returns the addresses of all live servers, sorted. */
  renew(): Promise<string[]>
  /** Deregisters this server and returns the addresses of the others. */
  leave(): Promise<string[]>
}

export class ServerLeases implements KnownServers {
  readonly #parts: ServerLeasesParts
  readonly #prefix: string

  constructor(parts: ServerLeasesParts) {
    this.#parts = parts
    this.#prefix = `${parts.root}/masterleases/`
  }

  async renew(): Promise<string[]> {
    const { storage, address } = this.#parts
    const key = `${this.#prefix}${address}`
    const lease = {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: {},
      subsets: [{ addresses: [{ ip: address }] }],
    }
    const { value } = await storage.get(key)
    await storage.put(key, Buffer.from(`${JSON.stringify(lease)}\n`), {
      ifRevision: value?.revision ?? 0,
      ttlSeconds: livesSeconds,
    })
    return this.#alive()
  }

  async leave(): Promise<string[]> {
    const { storage, address } = this.#parts
    const key = `${this.#prefix}${address}`
    const { value } = await storage.get(key)
    if (value !== undefined) await storage.delete(key, { ifRevision: value.revision })
    return this.#alive()
  }

  async #alive(): Promise<string[]> {
    const { storage, parse } = this.#parts
    const { items } = (await storage.list(prefixRange(this.#prefix))).value
    const addresses = items.flatMap(({ bytes }) => {
      const { subsets } = parse(bytes) as Loose
      return (subsets?.[0]?.addresses?.[0]?.ip as string | undefined) ?? []
    })
    return addresses.sort()
  }
}
