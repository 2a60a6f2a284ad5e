/**
 * The plugins DenyEscalatingExec and DenyExecOnPrivileged reject exec and attach for pods with
 * access to the host. They are older than PodSecurityPolicy, which replaced them.
 */
import type { Loose } from '#api/object-meta.ts'
import type { AdmissionPlugin } from './admission.ts'
import { refusal } from './refusal.ts'

/** The fields that give a pod a namespace of the host, each with the message of the refusal. */
const hostNamespaces: readonly [field: string, stated: string][] = [
  ['hostNetwork', 'cannot exec into or attach to a container using host network'],
  ['hostPID', 'cannot exec into or attach to a container using host pid'],
  ['hostIPC', 'cannot exec into or attach to a container using host ipc'],
]

const isPrivileged = (spec: Loose): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(
    ({ securityContext }: Loose) => securityContext?.privileged === true,
  )

/** `onlyPrivileged`: pods that share the host's network, process or IPC namespace are allowed. */
export const denyExec = (name: string, onlyPrivileged: boolean): AdmissionPlugin => ({
  name,
  async validate(request, reader) {
    const { operation, kind, subresource, namespace } = request
    if (operation !== 'CONNECT' || kind.plural !== 'pods') return
    if (subresource !== 'exec' && subresource !== 'attach') return
    const pod = await reader.get('', 'pods', namespace, request.name)
    if (pod === undefined) throw refusal(request, `pods "${request.name}" not found`)
    const { spec } = pod
    for (const [field, stated] of onlyPrivileged ? [] : hostNamespaces) {
      if (spec[field] === true) throw refusal(request, stated)
    }
    if (isPrivileged(spec))
      throw refusal(request, 'cannot exec into or attach to a privileged container')
  },
})
