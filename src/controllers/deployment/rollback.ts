/**
 * Rollback by annotation: what clients of extensions/v1beta1 requested with the field `rollbackTo`.
 * Pure.
 */
import type { KubeObject } from '#api/object-meta.ts'
import {
  lastRevision,
  ownAnnotations,
  revisionOf,
  rollbackKey,
  sharedAnnotations,
} from './revisions.ts'
import { type Rollout, setsOf } from './rollout.ts'
import { hasTemplate, withoutHash } from './template-hash.ts'

export interface Rollback {
  /** The deployment without the request, with the earlier template if it was found. */
  readonly deployment: KubeObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The requested revision; 0 for the last one. Undefined if the deployment requests none. */
export function requestedRevision({ metadata }: KubeObject): number | undefined {
  const text = metadata.annotations?.[rollbackKey] ?? ''
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined
}

export function rollback(rollout: Rollout, requested: number): Rollback {
  const { deployment } = rollout
  const sets = setsOf(rollout)
  const revision = requested === 0 ? lastRevision(sets) : requested
  const set = sets.find((one) => revisionOf(one) === revision)
  const name = deployment.metadata.name
  if (revision === 0 || set === undefined) {
    const which = revision === 0 ? 'last revision' : 'the revision to rollback to'
    return {
      deployment: withoutRequest(deployment),
      type: 'Warning',
      reason: 'DeploymentRollbackRevisionNotFound',
      message: `Unable to find ${which}.`,
    }
  }
  if (hasTemplate(set, deployment)) {
    return {
      deployment: withoutRequest(deployment),
      type: 'Warning',
      reason: 'DeploymentRollbackTemplateUnchanged',
      message: `The rollback revision contains the same template as current deployment "${name}"`,
    }
  }
  const annotations = { ...ownAnnotations(deployment), ...sharedAnnotations(set) }
  return {
    deployment: withoutRequest({
      ...deployment,
      metadata: { ...deployment.metadata, annotations },
      spec: { ...deployment.spec, template: withoutHash(set.spec?.template) },
    }),
    type: 'Normal',
    reason: 'DeploymentRollback',
    message: `Rolled back deployment "${name}" to revision ${revision}`,
  }
}

function withoutRequest(deployment: KubeObject): KubeObject {
  const { [rollbackKey]: _, ...annotations } = deployment.metadata.annotations ?? {}
  return { ...deployment, metadata: { ...deployment.metadata, annotations } }
}
