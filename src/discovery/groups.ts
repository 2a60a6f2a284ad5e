/** The discovery documents that list groups and versions: /api, /apis and /apis/<group>. */

export interface GroupVersionForDiscovery {
  readonly groupVersion: string
  readonly version: string
}

interface GroupOfList {
  readonly name: string
  readonly versions: readonly GroupVersionForDiscovery[]
  readonly preferredVersion: GroupVersionForDiscovery
}

export interface ApiGroup extends GroupOfList {
  readonly kind: 'APIGroup'
  readonly apiVersion: 'v1'
}

export interface ApiGroupList {
  readonly kind: 'APIGroupList'
  readonly apiVersion: 'v1'
  readonly groups: readonly GroupOfList[]
}

export interface ApiVersions {
  readonly kind: 'APIVersions'
  readonly versions: readonly string[]
  readonly serverAddressByClientCIDRs: readonly {
    readonly clientCIDR: string
    readonly serverAddress: string
  }[]
}

/** /api: the versions of the core group, and the address of the server for clients. */
export const apiVersions = (serverAddress: string): ApiVersions => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

/** /apis: every named group, in order. */
export const apiGroupList = (groups: ReadonlyMap<string, readonly string[]>): ApiGroupList => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groups].map(([group, versions]) => groupOf(group, versions)),
})

/** /apis/<group>; undefined if no version of the group is served. */
export function apiGroup(
  groups: ReadonlyMap<string, readonly string[]>,
  group: string,
): ApiGroup | undefined {
  const versions = groups.get(group)
  if (versions === undefined) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) }
}

function groupOf(name: string, versions: readonly string[]): GroupOfList {
  const shown = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: shown, preferredVersion: shown[0] }
}
