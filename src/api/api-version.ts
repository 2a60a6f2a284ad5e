/**
 * Splits an apiVersion: `apps/v1` has the group `apps`; `v1` has the core group, whose name is
 * empty. These functions validate nothing.
 */

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? '' : apiVersion.slice(0, slash)
}

export const versionOf = (apiVersion: string): string =>
  apiVersion.slice(apiVersion.lastIndexOf('/') + 1)
