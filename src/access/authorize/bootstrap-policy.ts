/**
 * The default roles and bindings of the emulated release. Each object, rule and subject in the
 * table has its first and last release. This module converts the table into objects.
 */
import { isWithin } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import table from './bootstrap-policy.json' with { type: 'json' }
import type { PolicyRule } from './policy-rule.ts'
import { rbacGroup } from './rbac.ts'

interface Dated {
  readonly since?: number
  readonly until?: number
}

interface SubjectRow extends Dated {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

interface Row extends Dated {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** The aggregation rule: selectors of the roles whose rules this role aggregates. */
  readonly aggregates?: readonly Readonly<Record<string, string>>[]
  readonly rules?: readonly (PolicyRule & Dated)[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly SubjectRow[]
}

const rows = table as unknown as readonly Row[]
const servedIn = (release: number) => (row: Dated) => isWithin(row, release)

const bootstrappingLabel = 'kubernetes.io/bootstrapping'
export const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate'

/**
 * Makes the objects, roles before the bindings that need them. `release` is the minor release, 22
 * for 1.22.
 */
export function bootstrapPolicy(release: number): KubeObject[] {
  return rows.filter(servedIn(release)).map((row) => toObject(row, release))
}

/** The rules of every node. The Node authorizer grants access to individual objects in addition. */
export function nodeRules(release: number): PolicyRule[] {
  const row = rows.find(({ kind, name }) => kind === 'ClusterRole' && name === 'system:node')
  return (row?.rules ?? []).filter(servedIn(release)).map(withoutDates)
}

function toObject(row: Row, release: number): KubeObject {
  const { kind, namespace, name } = row
  const object: KubeObject = {
    kind,
    apiVersion: `${rbacGroup}/v1`,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { [bootstrappingLabel]: 'rbac-defaults', ...row.labels },
      annotations: { [autoUpdateAnnotation]: 'true' },
    },
  }
  if (row.roleRef !== undefined) {
    const subjects = row.subjects?.filter(servedIn(release)).map(withoutDates)
    if (subjects !== undefined) object.subjects = subjects
    object.roleRef = { apiGroup: rbacGroup, ...row.roleRef }
    return object
  }
  object.rules = row.rules?.filter(servedIn(release)).map(withoutDates) ?? null
  if (row.aggregates !== undefined) {
    object.aggregationRule = {
      clusterRoleSelectors: row.aggregates.map((labels) => ({ matchLabels: { ...labels } })),
    }
  }
  return object
}

const withoutDates = <T extends Dated>({ since, until, ...rest }: T) => copyData(rest)
