/**
 * Policies and bindings from manifest files on the server's disk. They are active before the first
 * request, and clients cannot change them. Their names end in `.static.k8s.io`.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { together } from '#admission/refusal.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import { parseYaml } from '#codec/yaml.ts'
import { staticSuffix } from '#kinds/admissionregistration/static-names.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import type { Kind } from '#kinds/kind.ts'
import type { PolicyType } from './policy-source.ts'

export interface ManifestParts {
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
  readonly release: number
  readonly feature: (gate: string) => boolean
}

export interface Manifests {
  readonly policies: readonly KubeObject[]
  readonly bindings: readonly KubeObject[]
  /** The hash of all files. Empty without files. */
  readonly hash: string
}

const apiVersion = 'admissionregistration.k8s.io/v1'
const endings = ['.yaml', '.yml', '.json']

/** With this gate, such names are reserved for manifests; here the suffix is required. */
const namesGate = 'ManifestBasedAdmissionControlConfig'

/** Throws an Error with the file name if a document is invalid. */
export function readManifests(
  directory: string,
  type: PolicyType,
  parts: ManifestParts,
): Manifests {
  const hash = createHash('sha256')
  const loader = new Loader(type, parts)
  let isEmpty = true
  for (const path of filesIn(directory)) {
    const bytes = readFileSync(path)
    if (bytes.length === 0) continue
    isEmpty = false
    hash.update(bytes).update('\0')
    for (const text of documentsOf(bytes.toString('utf8')))
      try {
        loader.add(parseYaml(text), path)
      } catch (error) {
        throw new Error(`error loading ${path}: ${(error as Error).message}`)
      }
  }
  return { ...loader.loaded(), hash: isEmpty ? '' : `sha256:${hash.digest('hex')}` }
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && endings.includes(extname(entry.name).toLowerCase()))
    .map(({ name }) => join(directory, name))
    .sort()
}

/** The documents of a text, which lines of three hyphens separate. */
const documentsOf = (text: string): string[] =>
  text
    .split(/^---[ \t]*(?:#.*)?$/m)
    .map((document) => document.trim())
    .filter((document) => document !== '')

class Loader {
  readonly #parts: ManifestParts
  readonly #policyKind: string
  readonly #found: Readonly<Record<'policies' | 'bindings', Map<string, Found>>>

  constructor(type: PolicyType, parts: ManifestParts) {
    this.#parts = parts
    this.#policyKind =
      type === 'validating' ? 'ValidatingAdmissionPolicy' : 'MutatingAdmissionPolicy'
    this.#found = { policies: new Map(), bindings: new Map() }
  }

  add(value: unknown, path: string): void {
    const document = (value ?? {}) as Loose
    const { kind = '', items = [] } = document
    if (!kind) throw new Error("Object 'Kind' is missing")
    if (document.apiVersion === 'v1' && kind === 'List') {
      for (const item of items) this.add(item, path)
      return
    }
    const named = kind.replace(/List$/, '')
    const isPolicy = named === this.#policyKind
    if (document.apiVersion !== apiVersion || !(isPolicy || named === `${this.#policyKind}Binding`))
      throw new Error(`unsupported resource type ${document.apiVersion} ${kind}`)
    const objects: Loose[] = named === kind ? [document] : items
    for (const one of objects) {
      const object = this.#conformed(named, one)
      const found = this.#found[isPolicy ? 'policies' : 'bindings']
      const { name = '' } = object.metadata
      checkName(name, path, found)
      if (isPolicy) checkPolicy(named, object)
      else checkBinding(object)
      found.set(name, { object, path })
    }
  }

  /** The object with defaults, validated as if a client created it. */
  #conformed(kindName: string, raw: Loose): KubeObject {
    const kind = this.#parts.kindNamed(apiVersion, kindName)
    if (kind === undefined)
      throw new Error(`no kind "${kindName}" is registered for version "${apiVersion}"`)
    const { object, unknown } = kind.conform({ ...raw, apiVersion, kind: kindName })
    if (unknown.length > 0) {
      const fields = unknown.map((field) => `unknown field ${goQuote(field)}`)
      throw new Error(`strict decoding error: ${fields.join(', ')}`)
    }
    kind.applyDefaults(object)
    const { release, feature } = this.#parts
    const context = {
      release,
      feature: (gate: string) => gate !== namesGate && feature(gate),
      now: '',
      namespace: '',
    }
    const errors = [
      ...checkPlainMetadata(object, false, nameIsDnsSubdomain),
      ...(kind.resource.behaviour.validateCreate?.(object, context) ?? []),
    ]
    if (errors.length === 0) return object
    const problems = errors.map(({ field, message }) => `${field}: ${message}`)
    throw new Error(`${kindName} ${goQuote(object.metadata.name ?? '')}: ${together(problems)}`)
  }

  loaded(): Pick<Manifests, 'policies' | 'bindings'> {
    const objectsOf = (found: ReadonlyMap<string, Found>) =>
      [...found.keys()].sort().map((name) => (found.get(name) as Found).object)
    const { policies, bindings } = this.#found
    for (const { metadata, spec } of objectsOf(bindings))
      if (!policies.has(spec.policyName))
        throw new Error(
          `binding "${metadata.name}" references policy "${spec.policyName}" which does not exist in the manifest directory`,
        )
    return { policies: objectsOf(policies), bindings: objectsOf(bindings) }
  }
}

interface Found {
  readonly object: KubeObject
  readonly path: string
}

function checkName(name: string, path: string, found: ReadonlyMap<string, Found>): void {
  if (name === '') throw new Error(`resource in file "${path}" must have a name`)
  if (!name.endsWith(staticSuffix))
    throw new Error(`"${name}" in file "${path}" must have a name ending with "${staticSuffix}"`)
  const before = found.get(name)
  if (before !== undefined)
    throw new Error(
      `duplicate name "${name}" found in file "${path}" (previously seen in "${before.path}")`,
    )
}

/** Parameters are API objects, on which a manifest cannot rely. */
function checkPolicy(kind: string, { metadata, spec }: KubeObject): void {
  if (spec.paramKind)
    throw new Error(
      `${kind} "${metadata.name}": spec.paramKind is not supported for static manifests`,
    )
}

function checkBinding({ metadata: { name }, spec }: KubeObject): void {
  const { policyName, paramRef } = spec
  if (!policyName.endsWith(staticSuffix))
    throw new Error(
      `binding "${name}": spec.policyName "${policyName}" must end with "${staticSuffix}"`,
    )
  if (paramRef)
    throw new Error(`binding "${name}": spec.paramRef is not supported for static manifests`)
}
