/**
 * The two halves of an apiVersion: `apps/v1` is of the group `apps`, `v1` of the core, whose name
 * is empty. Judges nothing.
 */

export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? '' : apiVersion.slice(0, slash)
}

export const versionOf = (apiVersion: string): string =>
  apiVersion.slice(apiVersion.lastIndexOf('/') + 1)
