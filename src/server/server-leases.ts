/**
 * Which servers share a store. Each keeps an object with its address there that lives for some
 * seconds, where kube-apiserver keeps its own; readers find the live servers. A store of one server
 * has no use for it.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'

/** As long as kube-apiserver's. */
const livesSeconds = 15

export interface ServerLeasesParts {
  readonly storage: Pick<Storage, 'get' | 'list' | 'put' | 'delete'>
  readonly parse: (bytes: Buffer) => KubeObject
  /** What all keys begin with: `/registry`. */
  readonly root: string
  readonly address: string
}

/** How a server learns of the others. */
export interface KnownServers {
  /** This server is alive; answers the addresses of all that are, in order. */
  renew(): Promise<string[]>
  /** This server ends; answers the addresses of the others. */
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
