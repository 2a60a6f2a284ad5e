/**
 * The records of the Binnacle servers on one etcd. Each server keeps one with a short TTL and
 * deletes it when it stops. Loopback servers write them too, unlike leases. Nothing here compares
 * the records: other-keys.ts does.
 *
 *   /binnacle/registry/members/3f…  →  {"url":"https://127.0.0.1:6443","host":"a","authority":"…"}
 */
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { Settings } from '#settings/flags.ts'

/** A server that missed two renewals, of 10 seconds each, counts as stopped. */
export const memberLivesSeconds = 30
/** A server that stops does not wait longer for an etcd that does not respond. */
const leaveTimeoutMs = 2000

export interface PublicKeys {
  /** Fingerprints. Absent if flags specify the keys, which may then differ. */
  readonly authority?: string
  readonly tokenKey?: string
}

export interface MemberRecord extends PublicKeys {
  readonly url: string
  /** Several machines have a server at https://127.0.0.1:6443. Records of 0.1.0 have no host. */
  readonly host?: string
  /** Whether the server takes its keys from etcd, with --cluster-secret-file. */
  readonly sharesKeys?: boolean
}

type Store = Pick<Storage, 'get' | 'put' | 'delete'>

export const memberPrefix = ({ etcdPrefix }: Pick<Settings, 'etcdPrefix'>): string =>
  `/binnacle${etcdPrefix}/members/`

/** All live servers, by the key of their record. */
export async function liveMembers(
  storage: Pick<Storage, 'list'>,
  settings: Pick<Settings, 'etcdPrefix'>,
): Promise<ReadonlyMap<string, MemberRecord>> {
  const { items } = (await storage.list(prefixRange(memberPrefix(settings)))).value
  return new Map(items.map(({ key, bytes }) => [key, JSON.parse(bytes.toString()) as MemberRecord]))
}

export async function renewMember(storage: Store, key: string, own: MemberRecord): Promise<void> {
  const { value } = await storage.get(key)
  await storage.put(key, Buffer.from(JSON.stringify(own)), {
    ifRevision: value?.revision ?? 0,
    ttlSeconds: memberLivesSeconds,
  })
}

/** Rejects if etcd does not respond: the record then expires by itself. */
export async function removeMember(storage: Store, key: string): Promise<void> {
  const { value } = await storage.get(key)
  if (value === undefined) return
  const deadlineAt = performance.now() + leaveTimeoutMs
  await storage.delete(key, { ifRevision: value.revision, deadlineAt })
}
