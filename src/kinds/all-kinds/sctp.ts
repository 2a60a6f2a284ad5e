/**
 * Rejects SCTP ports in releases up to 1.19 if the gate SCTPSupport is off, unless the old object
 * has SCTP ports. This file defines only where each kind has ports.
 */
import { type FieldError, notSupported } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

type PortPaths = (object: Loose) => FieldPath[]

const protocol = 'SCTP'
const others = ['TCP', 'UDP']

const inPorts = (ports: Loose[] | null | undefined, path: FieldPath): FieldPath[] =>
  (ports ?? []).flatMap((port, i) =>
    port.protocol === protocol ? [path.index(i).child('protocol')] : [],
  )

const inEach =
  (path: FieldPath, list: (object: Loose) => Loose[] | null | undefined): PortPaths =>
  (object) =>
    (list(object) ?? []).flatMap((item, i) => inPorts(item.ports, path.index(i).child('ports')))

const inPod = (path: FieldPath, specOf: (object: Loose) => Loose | undefined): PortPaths =>
  inAll(
    inEach(path.child('initContainers'), (object) => specOf(object)?.initContainers),
    inEach(path.child('containers'), (object) => specOf(object)?.containers),
  )

function inAll(...lists: PortPaths[]): PortPaths {
  return (object) => lists.flatMap((list) => list(object))
}

const inTemplate = inPod(
  FieldPath.of('spec', 'template', 'spec'),
  (object) => object.spec?.template?.spec,
)

/** By kind folder. */
const places: Readonly<Record<string, PortPaths>> = {
  'core/service': (object) => inPorts(object.spec?.ports, FieldPath.of('spec', 'ports')),
  'core/endpoints': inEach(FieldPath.of('subsets'), (object) => object.subsets),
  // kube-apiserver's path for pods begins with an empty index.
  'core/pod': inPod(FieldPath.of('[].spec'), (object) => object.spec),
  'core/pod-template': inPod(FieldPath.of('template', 'spec'), (object) => object.template?.spec),
  'core/replication-controller': inTemplate,
  'apps/daemon-set': inTemplate,
  'apps/deployment': inTemplate,
  'apps/replica-set': inTemplate,
  'apps/stateful-set': inTemplate,
  'batch/job': inTemplate,
  'batch/cron-job': inPod(
    FieldPath.of('spec', 'jobTemplate', 'spec', 'template', 'spec'),
    (object) => object.spec?.jobTemplate?.spec?.template?.spec,
  ),
  'networking/network-policy': inAll(
    inEach(FieldPath.of('spec', 'ingress'), (object) => object.spec?.ingress),
    inEach(FieldPath.of('spec', 'egress'), (object) => object.spec?.egress),
  ),
}

function check(
  pathsOf: PortPaths,
  context: Context,
  next: KubeObject,
  old?: KubeObject,
): FieldError[] {
  if (context.feature('SCTPSupport')) return []
  if (old !== undefined && pathsOf(old).length > 0) return []
  return pathsOf(next).map((path) => notSupported(path, protocol, others))
}

/** The behaviour of a kind in releases with the gate. */
export function withSctpRules(behaviour: Behaviour, folder: string): Behaviour {
  const pathsOf = places[folder]
  if (pathsOf === undefined) return behaviour
  return {
    ...behaviour,
    validateCreate: (object, context) => [
      ...(behaviour.validateCreate?.(object, context) ?? []),
      ...check(pathsOf, context, object),
    ],
    validateUpdate: (next, old, context) => [
      ...(behaviour.validateUpdate?.(next, old, context) ?? []),
      ...check(pathsOf, context, next, old),
    ],
  }
}
