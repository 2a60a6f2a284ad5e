/** The names in OpenAPI documents: operation ids, tags and definition names. */

/**
 * Camel case: 'rbac.authorization' → 'RbacAuthorization'. All characters except letters and digits
 * are removed.
 */
function camel(text: string, upperFirst: boolean): string {
  if (/^[A-Za-z_]\w*$/.test(text)) return upperFirst ? title(text) : text
  const words = text.replace(/^\d+/, ' ').split(/[^\p{L}\d_]+/u)
  const joined = words.map((word, index) => (index > 0 ? title(word) : word)).join('')
  return upperFirst ? title(joined) : joined
}

const shortGroup = (group: string) => (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))

/**
 * A group in camel case. Consecutive calls mostly have the same group, so the last result is
 * cached.
 */
function groupWord(group: string): string {
  if (lastGroup.name !== group) lastGroup = { name: group, word: camel(shortGroup(group), false) }
  return lastGroup.word
}

let lastGroup = { name: '', word: 'core' }

/** 'list', 'apps', 'v1', 'NamespacedDeployment' → 'listAppsV1NamespacedDeployment'. */
export const operationId = (verb: string, group: string, version: string, rest: string): string =>
  verb + title(groupWord(group)) + camel(version, true) + camel(rest, true)

/** 'apps_v1'; without a version, the tag of the group. */
export function tagOf(group: string, version = ''): string {
  const tag = groupWord(group)
  return version === '' ? tag : `${tag}_${camel(version, false)}`
}

/**
 * The definition name of a custom kind, unless it is in use: 'stable.example.com', 'v1', 'CronTab'
 * → 'com.example.stable.v1.CronTab'.
 */
export const customDefinitionName = (group: string, version: string, kind: string): string =>
  `${group.split('.').reverse().join('.')}.${version}.${kind}`

export const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const basePath = (group: string, version: string): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`
