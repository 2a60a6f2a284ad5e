/** The SecurityContextDeny plugin rejects pods that set users, groups or SELinux options. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { forbiddenRequest } from '#api/status-error.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isPod, isWrite } from './match.ts'

const podFields = {
  supplementalGroups: 'SupplementalGroups',
  seLinuxOptions: 'SELinuxOptions',
  runAsUser: 'RunAsUser',
  fsGroup: 'FSGroup',
}
const containerFields = { seLinuxOptions: 'SELinuxOptions', runAsUser: 'RunAsUser' }

export const securityContextDeny: AdmissionPlugin = {
  name: 'SecurityContextDeny',
  validate(request) {
    if (!isPod(request) || !isWrite(request)) return
    const { spec, metadata } = request.object as KubeObject
    const refuseFields = (
      context: Loose | undefined,
      fields: Readonly<Record<string, string>>,
      prefix: string,
    ) => {
      for (const [field, stated] of Object.entries(fields)) {
        if (context?.[field] === undefined && !wasWrittenEmpty(context, field)) continue
        throw forbiddenRequest(
          request.kind,
          metadata.name ?? '',
          `${prefix}SecurityContext.${stated} is forbidden`,
        )
      }
    }
    refuseFields(spec.securityContext, podFields, 'pod.Spec.')
    for (const { securityContext } of [
      ...(spec.initContainers ?? []),
      ...(spec.containers ?? []),
    ] as Loose[]) {
      refuseFields(securityContext, containerFields, '')
    }
  },
}
