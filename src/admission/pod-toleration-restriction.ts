/**
 * The PodTolerationRestriction plugin adds the default tolerations of a namespace to its pods and
 * rejects tolerations that the namespace does not allow.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, notFound } from '#api/status-error.ts'
import { foldNames } from '#codec/go-json/folded-names.ts'
import { plainFault } from '#codec/go-json/plain-fault.ts'
import { parseJson } from '#codec/json.ts'
import { qosClassOf } from '#kinds/core/pod/qos-class.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { conform } from '#schema/conform.ts'
import type { Struct, Type } from '#schema/type.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isPod, isWrite } from './match.ts'
import { mergeTolerations, withinTolerations } from './tolerations.ts'

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const allowedAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'
const memoryPressure = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

export function podTolerationRestriction(configuration: Loose | undefined): AdmissionPlugin {
  const { default: defaults, whitelist } = configuration ?? {}
  return {
    name: 'PodTolerationRestriction',
    async mutate(request, reader) {
      if (!isPod(request) || !isWrite(request)) return
      const { spec } = request.object as KubeObject
      const extra: Loose[] = []
      if (request.operation === 'CREATE') {
        extra.push(
          ...((await fromNamespace(request, reader, defaultsAnnotation)) ?? defaults ?? []),
        )
      }
      if (qosClassOf(spec) !== 'BestEffort') extra.push({ ...memoryPressure })
      if (extra.length > 0)
        spec.tolerations = mergeTolerations(spec.tolerations, structuredClone(extra))
      await requireAllowed(request, reader, whitelist)
    },
    async validate(request, reader) {
      if (!isPod(request) || !isWrite(request)) return
      await requireAllowed(request, reader, whitelist)
    },
  }
}

async function requireAllowed(
  request: AdmissionRequest,
  reader: ObjectReader,
  ofCluster: Loose[] | undefined,
): Promise<void> {
  const tolerations: Loose[] = request.object?.spec.tolerations ?? []
  if (tolerations.length === 0) return
  const ofNamespace = await fromNamespace(request, reader, allowedAnnotation)
  if (withinTolerations(tolerations, ofNamespace ?? ofCluster ?? [])) return
  const scope = ofNamespace === undefined ? 'cluster' : 'namespace'
  throw new ApiError(
    500,
    '',
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
  )
}

async function fromNamespace(
  { kind, namespace }: AdmissionRequest,
  reader: ObjectReader,
  annotation: string,
): Promise<Loose[] | undefined> {
  const found = await reader.get('', 'namespaces', '', namespace)
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  const text = found.metadata.annotations?.[annotation]
  if (text === undefined) return undefined
  if (text === '') return []
  const type = tolerationsOf(kind)
  const list = foldNames(type, parsed(text))
  const fault = plainFault(type, list)
  if (fault !== undefined) throw new ApiError(500, '', fault)
  return (conform(type, list).value ?? []) as Loose[]
}

function parsed(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    throw new ApiError(500, '', (error as Error).message)
  }
}

/** The type of the tolerations of a pod. */
function tolerationsOf({ type }: Kind): Type {
  const spec = (type as Struct).byName.get('spec')?.type as Struct
  return spec.byName.get('tolerations')?.type as Type
}
