/**
 * Requests the rollback of a deployment (POST deployments/NAME/rollback), in releases before 1.18.
 * The deployment stores the requested revision, and the deployment controller rolls back. The hub
 * version has no field spec.rollbackTo, so the revision is in an annotation.
 */
import { type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateAnnotations, validateNonnegative } from '#api/object-meta-rules.ts'
import { badRequest, invalidObject } from '#api/status-error.ts'
import { rollbackKey } from '#kinds/apps/deployment/conversions.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformAs } from '#verbs/decode.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'
import { raceTriesMax, writeOver } from '#verbs/write-over.ts'
import { admitBody, afterAdmission } from './admit.ts'

/** Errors name this group, whichever version is requested. */
const group = 'apps'

export async function rollBack(server: Server, request: WriteRequest): Promise<Answer> {
  const { target } = request
  const rollback: Loose = conformAs(server, target.kind.apiVersion, 'DeploymentRollback', request)
  await admitBody(server, request, rollback as KubeObject, target.name, () => {
    const { name = '' } = rollback
    const errors = rollbackErrors(rollback)
    if (errors.length > 0) throw invalidObject({ group, kind: 'DeploymentRollback' }, name, errors)
    if (name !== target.name)
      throw badRequest('name in URL does not match name in DeploymentRollback object')
  })
  await writeOver(afterAdmission(server), request, {
    creates: false,
    missedAs: { group, plural: 'deployments' },
    unconditional: true,
    retries: raceTriesMax,
    make: (deployment) => note(deployment as KubeObject, rollback),
  })
  // kube-apiserver responds with 201, as to every create, but the Status has its own code.
  return {
    is: 'value',
    status: 201,
    value: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      message: `rollback request for deployment "${target.name}" succeeded`,
      code: 200,
    },
  }
}

function rollbackErrors({ name, updatedAnnotations, rollbackTo }: Loose): FieldError[] {
  const errors = validateAnnotations(updatedAnnotations, FieldPath.of('updatedAnnotations'))
  if (!name) errors.push(required('name', 'name is required'))
  // kube-apiserver's error path of rollbackTo.revision.
  const path = FieldPath.of('rollback').child('version')
  return [...errors, ...validateNonnegative(rollbackTo?.revision ?? 0, path)]
}

function note(deployment: KubeObject, { updatedAnnotations, rollbackTo }: Loose): KubeObject {
  deployment.metadata.annotations = {
    ...deployment.metadata.annotations,
    ...updatedAnnotations,
    [rollbackKey]: String(rollbackTo?.revision ?? 0),
  }
  return deployment
}
