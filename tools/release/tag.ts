/**
 * The tag of a release. Only a version with a dated section in the changelog gets one: a tag that
 * others have fetched cannot be moved.
 */
export const tagName = (version: string): string => `v${version}`

/** Why the version cannot be tagged, or undefined. */
export function tagProblem(version: string, changelog: string): string | undefined {
  const [, newest = 'none'] = /^## (\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$/m.exec(changelog) ?? []
  if (newest === version) return undefined
  return `the newest release of CHANGELOG.md is ${newest}, not ${version}: date its section first`
}

/** The last line of a release that was made, whether or not it is tagged. */
export const nextStep = (version: string, isTagged: boolean): string =>
  [
    ...(isTagged ? [] : [`to tag this commit: git tag ${tagName(version)}`]),
    `to publish: git push origin ${tagName(version)}, and attach these files`,
  ].join('; ')
