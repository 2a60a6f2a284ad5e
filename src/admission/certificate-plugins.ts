/**
 * The plugins for certificate requests. A user who approves, signs or attests for a signer must
 * have that permission on the signer's name. Requests of the built-in client signer for the group
 * system:masters are rejected.
 */
import type { Authorizer } from '#access/authorize.ts'
import { changesOnlyOwnership } from '#access/authorize/escalation.ts'
import { privilegedGroup, type User } from '#access/user.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { requestNames } from '#kinds/certificates/certificate-signing-request/kubelet-request.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isWrite } from './match.ts'
import { refusal } from './refusal.ts'

const group = 'certificates.k8s.io'
const clientSigner = 'kubernetes.io/kube-apiserver-client'

const isRequest = ({ kind, subresource }: AdmissionRequest, wanted: string) =>
  subresource === wanted && kind.plural === 'certificatesigningrequests' && kind.group === group

export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    validate(request) {
      if (request.operation !== 'UPDATE' || !isRequest(request, 'approval')) return
      return requireRight(request, authorizer, 'approve')
    },
  }
}

export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    validate(request) {
      if (request.operation !== 'UPDATE' || !isRequest(request, 'status')) return
      const [next, old] = [request.object?.status ?? {}, request.old?.status ?? {}]
      if (next.certificate === old.certificate && semanticEqual(next.conditions, old.conditions))
        return
      return requireRight(request, authorizer, 'sign')
    },
  }
}

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(request) {
    if (request.operation !== 'CREATE' || !isRequest(request, '')) return
    const { spec } = request.object as KubeObject
    if (spec.signerName !== clientSigner) return
    const names = requestNames(Buffer.from(spec.request ?? '', 'base64'))
    if (names === undefined) {
      throw refusal(request, 'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST')
    }
    if (!names.organizations.includes(privilegedGroup)) return
    throw refusal(
      request,
      `use of ${clientSigner} signer with ${privilegedGroup} group is not allowed`,
    )
  },
}

/** A user who publishes the trust anchors of a signer needs a permission for that signer too. */
export function clusterTrustBundleAttest(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    validate(request) {
      const { kind, operation, object, old } = request
      if (!isWrite(request) || kind.plural !== 'clustertrustbundles' || kind.group !== group) return
      const signer: string = object?.spec.signerName ?? ''
      if (signer === '') return
      // Writes of the garbage collector and of a storage migration need no such permission.
      if (operation === 'UPDATE' && changesOnlyOwnership(object as KubeObject, old as KubeObject))
        return
      return requireSigner(request, authorizer, 'attest', signer, 'for')
    },
  }
}

const requireRight = (
  request: AdmissionRequest,
  authorizer: Authorizer,
  verb: 'approve' | 'sign',
): Promise<void> =>
  requireSigner(request, authorizer, verb, request.old?.spec.signerName ?? '', 'requests with')

async function requireSigner(
  request: AdmissionRequest,
  authorizer: Authorizer,
  verb: string,
  signer: string,
  what: string,
): Promise<void> {
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    if (await mayUse(authorizer, request.user, verb, name)) return
  }
  throw refusal(request, `user not permitted to ${verb} ${what} signerName "${signer}"`)
}

async function mayUse(
  authorizer: Authorizer,
  user: User,
  verb: string,
  name: string,
): Promise<boolean> {
  const { decision } = await authorizer.authorize({
    user,
    verb,
    isResource: true,
    group,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
    name,
    path: '',
  })
  return decision === 'allow'
}
