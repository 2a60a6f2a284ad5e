/**
 * The PodNodeSelector plugin limits pods to the nodes that their namespace, or the plugin's
 * configuration, selects.
 */
import { invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { labelValue, qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { wordsOf } from '#api/release-words.ts'
import { ApiError, forbiddenRequest } from '#api/status-error.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { setKey } from '#schema/user-key.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isNewPod } from './match.ts'

const annotation = 'scheduler.alpha.kubernetes.io/node-selector'

type Selector = Record<string, string>
type Parse = (text: string) => Selector

/** The allowed node selectors by namespace, and `clusterDefaultNodeSelector`. */
export function podNodeSelector(
  release: number,
  configuration: Loose | undefined,
): AdmissionPlugin {
  const parse = (text: string) => parseSelector(text, release)
  const selectors: Selector = configuration?.podNodeSelectorPluginConfig ?? {}
  return {
    name: 'PodNodeSelector',
    async mutate(request, reader) {
      if (!isNewPod(request)) return
      const wanted = await selectorOf(request, reader, selectors, parse)
      const { spec } = request.object as KubeObject
      if (Object.keys(wanted).length > 0)
        spec.nodeSelector = merged(wanted, spec.nodeSelector ?? {})
      requireAllowed(request, selectors, parse)
    },
    async validate(request, reader) {
      if (!isNewPod(request)) return
      await selectorOf(request, reader, selectors, parse)
      requireAllowed(request, selectors, parse)
    },
  }
}

const refuse = ({ kind, object }: AdmissionRequest, why: string) =>
  forbiddenRequest(kind, object?.metadata.name ?? '', why)

/** The selector of a pod's namespace; rejects a pod with a conflicting one. */
async function selectorOf(
  request: AdmissionRequest,
  reader: ObjectReader,
  selectors: Selector,
  parse: Parse,
): Promise<Selector> {
  const { namespace } = request
  const found = await reader.get('', 'namespaces', '', namespace)
  if (found === undefined) throw new ApiError(500, '', `namespace ${namespace} does not exist`)
  const text =
    found.metadata.annotations?.[annotation] ?? ownValue(selectors, 'clusterDefaultNodeSelector')
  const wanted = parse(text ?? '')
  const there: Selector = request.object?.spec.nodeSelector ?? {}
  for (const [key, value] of Object.entries(wanted)) {
    const own = ownValue(there, key)
    if (own === undefined || own === value) continue
    throw refuse(
      request,
      'pod node label selector conflicts with its namespace node label selector',
    )
  }
  return wanted
}

function requireAllowed(request: AdmissionRequest, selectors: Selector, parse: Parse): void {
  const allowed = parse(ownValue(selectors, request.namespace) ?? '')
  if (Object.keys(allowed).length === 0) return
  const there: Selector = request.object?.spec.nodeSelector ?? {}
  if (Object.entries(there).every(([key, value]) => ownValue(allowed, key) === value)) return
  throw refuse(request, 'pod node label selector labels conflict with its namespace whitelist')
}

function merged(a: Selector, b: Selector): Selector {
  const all: Selector = {}
  for (const [key, value] of [...Object.entries(a), ...Object.entries(b)]) setKey(all, key, value)
  return all
}

/** Parses `a=b,c=d`. */
function parseSelector(text: string, release: number): Selector {
  const selector: Selector = {}
  if (text === '') return selector
  for (const part of text.split(',')) {
    const pair = part.split('=')
    if (pair.length !== 2) throw new ApiError(500, '', `invalid selector: [${pair.join(' ')}]`)
    const [key, value] = pair.map((one) => one.trim()) as [string, string]
    requireNo(FieldPath.none, key, qualifiedName(key), release)
    requireNo(FieldPath.root.key(key), value, labelValue(value), release)
    setKey(selector, key, value)
  }
  return selector
}

function requireNo(
  path: FieldPath,
  value: string,
  problems: readonly string[],
  release: number,
): void {
  if (problems.length === 0) return
  const { field, message } = invalid(
    path,
    value,
    problems.map((one) => wordsOf(release).of(one)).join('; '),
  )
  throw new ApiError(500, '', `${field}: ${wordsOf(release).of(message)}`)
}
