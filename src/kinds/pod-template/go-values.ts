/**
 * Parts of pods in the format of Go's `%#v`, for messages. A pointer is shown only as present or
 * nil.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { asGo, type GoPart, type GoText, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'

const pointers = (fields: readonly (readonly [string, string, unknown])[]): [string, GoPart][] =>
  fields.map(([name, type, value]) => [name, goPointer(type, value)])

const showsProfiles = change('errors of pods show seccompProfile', { since: 19 })
const showsProbeGrace = change('errors of pods show terminationGracePeriodSeconds of probes', {
  since: 21,
})

export const goSecurityContext = (context: Loose, release: number): GoText =>
  asGo(
    goStruct(
      'core.SecurityContext',
      pointers([
        ['Capabilities', 'core.Capabilities', context.capabilities],
        ['Privileged', 'bool', context.privileged],
        ['SELinuxOptions', 'core.SELinuxOptions', context.seLinuxOptions],
        ['WindowsOptions', 'core.WindowsSecurityContextOptions', context.windowsOptions],
        ['RunAsUser', 'int64', context.runAsUser],
        ['RunAsGroup', 'int64', context.runAsGroup],
        ['RunAsNonRoot', 'bool', context.runAsNonRoot],
        ['ReadOnlyRootFilesystem', 'bool', context.readOnlyRootFilesystem],
        ['AllowPrivilegeEscalation', 'bool', context.allowPrivilegeEscalation],
        ['ProcMount', 'core.ProcMountType', context.procMount],
        ...(releaseOf(release).has(showsProfiles)
          ? [['SeccompProfile', 'core.SeccompProfile', context.seccompProfile] as const]
          : []),
      ]),
    ),
  )

export const goLifecycle = (lifecycle: Loose): GoText =>
  asGo(
    goStruct(
      'core.Lifecycle',
      pointers([
        ['PostStart', 'core.Handler', lifecycle.postStart],
        ['PreStop', 'core.Handler', lifecycle.preStop],
      ]),
    ),
  )

export function goProbe(probe: Loose, release: number): GoText {
  const handler = goStruct(
    'core.Handler',
    pointers([
      ['Exec', 'core.ExecAction', probe.exec],
      ['HTTPGet', 'core.HTTPGetAction', probe.httpGet],
      ['TCPSocket', 'core.TCPSocketAction', probe.tcpSocket],
    ]),
  )
  const number = (field: string): string => String(probe[field] ?? 0)
  return asGo(
    goStruct('core.Probe', [
      ['Handler', handler],
      ['InitialDelaySeconds', number('initialDelaySeconds')],
      ['TimeoutSeconds', number('timeoutSeconds')],
      ['PeriodSeconds', number('periodSeconds')],
      ['SuccessThreshold', number('successThreshold')],
      ['FailureThreshold', number('failureThreshold')],
      ...(releaseOf(release).has(showsProbeGrace)
        ? pointers([
            ['TerminationGracePeriodSeconds', 'int64', probe.terminationGracePeriodSeconds],
          ])
        : []),
    ]),
  )
}

export const goToleration = (toleration: Loose): GoText =>
  asGo(
    goStruct('core.Toleration', [
      ['Key', goQuote(toleration.key ?? '')],
      ['Operator', goQuote(toleration.operator ?? '')],
      ['Value', goQuote(toleration.value ?? '')],
      ['Effect', goQuote(toleration.effect ?? '')],
      ['TolerationSeconds', goPointer('int64', toleration.tolerationSeconds)],
    ]),
  )

export const goPodIp = (podIp: Loose): GoText =>
  goStruct('core.PodIP', [['IP', goQuote(podIp.ip ?? '')]])
