/** The features of audit policies that depend on the release. */
import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { type AuditedRequest, readPolicy } from './policy.ts'

const request: AuditedRequest = {
  user: { name: 'joe', groups: ['dev'] },
  verb: 'update',
  isResource: true,
  group: 'apps',
  resource: 'deployments',
  subresource: '',
  namespace: 'a',
  name: 'd',
  path: '/apis/apps/v1/namespaces/a/deployments/d',
}

/** The problems of a policy, or the level and whether managed fields are omitted. */
function decided(release: number, policy: Loose): unknown {
  const apiVersion = 'audit.k8s.io/v1'
  const read = readPolicy({ kind: 'Policy', apiVersion, ...policy }, releaseOf(release))
  if ('problems' in read) return read.problems
  const { level, omitsManagedFields } = read.decide(request)
  return [level, omitsManagedFields]
}

const everything = { level: 'Request' }
const inAllGroups = { level: 'Request', resources: [{ group: '*', resources: ['deployments'] }] }
const notASubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

checkBoundaries(decided, [
  [
    'managed fields of all rules are omitted',
    [22, 23],
    { omitManagedFields: true, rules: [everything] },
    ['Request', false],
    ['Request', true],
  ],
  [
    'managed fields of a rule are omitted',
    [22, 23],
    { rules: [{ ...everything, omitManagedFields: true }] },
    ['Request', false],
    ['Request', true],
  ],
  [
    'a rule keeps managed fields that others omit',
    [22, 23],
    { omitManagedFields: true, rules: [{ ...everything, omitManagedFields: false }] },
    ['Request', false],
    ['Request', false],
  ],
  [
    'a flag that is a text',
    [22, 23],
    { omitManagedFields: 'yes', rules: [everything] },
    ['omitManagedFields: Invalid value: must be true or false'],
    ['omitManagedFields: Invalid value: must be true or false'],
  ],
  [
    'a beta policy',
    [23, 24],
    { apiVersion: 'audit.k8s.io/v1beta1', rules: [everything] },
    ['Request', false],
    [
      'unknown group version field audit.k8s.io/v1beta1, Kind=Policy in policy; known is Policy of audit.k8s.io/v1',
    ],
  ],
  [
    'a star in place of a group',
    [35, 36],
    { rules: [inAllGroups] },
    [`rules[0].resources.group: Invalid value: "*": ${notASubdomain}`],
    ['Request', false],
  ],
])
