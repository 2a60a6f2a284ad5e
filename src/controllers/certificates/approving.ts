/**
 * Kubelets' requests for client certificates are approved automatically if the requester has the
 * right. The rights are `nodeclient` (a new node) and `selfnodeclient` (a node renewing its own).
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import type { Controller } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { accessReviews, certificateRequests } from '#controllers/resources.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import { kubeletClientRule, kubeletClientSigner } from './signers.ts'

const approvalsHaveStatus = change(
  'the condition Approved of a certificate signing request has a status',
  { since: 19 },
)

const group = 'certificates.k8s.io'
const lookAgainMs = 10_000

export const certificateApproving: Controller = {
  name: 'csrapproving',
  account: 'certificate-controller',
  start(parts) {
    const { client, informers, release } = parts
    const resource = certificateRequests(release)
    const queue = queueFor('csrapproving', parts, async (name) => {
      const request = await unlessMissing(client.get(resource, '', name))
      if (request === undefined || !isPending(request)) return
      const message = await reasonToApprove(client, request)
      // The right may be granted later, and no event reports that.
      if (message === undefined) return lookAgainMs
      const approved: Loose = { type: 'Approved', reason: 'AutoApproved', message }
      if (releaseOf(release).has(approvalsHaveStatus)) approved.status = 'True'
      const conditions = [...(request.status?.conditions ?? []), approved]
      const next = { ...request, status: { ...request.status, conditions } }
      await unlessMissing(client.update(resource, next, 'approval'))
    })
    informers.certificateRequests(release).listen({
      changed: (request) => {
        if (isPending(request)) queue.add(request.metadata.name as string)
      },
    })
  },
}

function isPending({ spec, status }: KubeObject): boolean {
  if (status?.certificate) return false
  if ((spec?.signerName ?? kubeletClientSigner) !== kubeletClientSigner) return false
  return !(status?.conditions ?? []).some(
    ({ type }: Loose) => type === 'Approved' || type === 'Denied',
  )
}

async function reasonToApprove(
  client: ApiClient,
  { spec }: KubeObject,
): Promise<string | undefined> {
  const asked = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64'))
  if (kubeletClientRule(asked, spec.usages ?? []) !== undefined) return undefined
  if (asked.commonName === spec.username && (await may(client, spec, 'selfnodeclient'))) {
    return 'Auto approving self kubelet client certificate after SubjectAccessReview.'
  }
  if (await may(client, spec, 'nodeclient')) {
    return 'Auto approving kubelet client certificate after SubjectAccessReview.'
  }
  return undefined
}

async function may(client: ApiClient, spec: Loose, subresource: string): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec
  const resourceAttributes = {
    group,
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource,
  }
  const review = await client.create(accessReviews, '', {
    metadata: {},
    spec: {
      user,
      ...(uid && { uid }),
      ...(groups && { groups }),
      ...(extra && { extra }),
      resourceAttributes,
    },
  })
  return review.status?.allowed === true
}
