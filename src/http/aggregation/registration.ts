/**
 * Maintains the APIServices of local group versions. Those of built-in versions are created once,
 * at the start. Those of CustomResourceDefinitions exist as long as a definition serves the
 * version. APIServices that users register are left alone.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import type { Priority } from '#discovery/group-order.ts'
import type { GroupVersion } from '#kinds/catalog.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import {
  apiServices,
  apiVersion,
  automanagedLabel,
  type Management,
  managementOf,
} from './api-service.ts'

export interface RegistrationParts {
  readonly client: ApiClient
  readonly reader: ObjectReader
  /** The built-in group versions with their priorities in discovery. */
  readonly builtIn: readonly (GroupVersion & { readonly priority: Priority })[]
  readonly report: (message: string, error: unknown) => void
}

/** The group of APIServices itself needs no APIService. */
const ownGroup = apiServices.group
/** The priority of custom resources in discovery: after all built-in groups. */
const customPriority: Priority = { group: 1000, version: 100 }

/** The pause before a failed APIService is processed again. */
const retryMs = 1000

interface Desired {
  readonly spec: Loose
  readonly management: Management
}

const desiredFor = (
  { group, version }: GroupVersion,
  priority: Priority,
  management: Management,
): Desired => ({
  spec: {
    ...(group !== '' && { group }),
    version,
    groupPriorityMinimum: priority.group,
    versionPriority: priority.version,
  },
  management,
})

export type RegistrationStep = 'nothing' | 'create' | 'update' | 'delete'

/**
 * Decides what to do with one APIService. `settled`: it was processed before. `atStart`: it existed
 * when the server started.
 */
export function nextStep(
  desired: Desired | undefined,
  current: KubeObject | undefined,
  settled: boolean,
  atStart: boolean,
): RegistrationStep {
  if (current === undefined && desired === undefined) return 'nothing'
  if (desired?.management === 'onstart' && settled) return 'nothing'
  if (current === undefined) return 'create'
  const management = managementOf(current)
  if (management === undefined) return 'nothing'
  if (management === 'onstart' && (!atStart || settled)) return 'nothing'
  if (desired === undefined) return 'delete'
  return sameSpec(current.spec ?? {}, desired.spec) ? 'nothing' : 'update'
}

const sameSpec = (a: Loose, b: Loose): boolean =>
  (a.group ?? '') === (b.group ?? '') &&
  a.version === b.version &&
  a.groupPriorityMinimum === b.groupPriorityMinimum &&
  a.versionPriority === b.versionPriority &&
  !a.service &&
  !a.caBundle &&
  !a.insecureSkipTLSVerify

const nameOf = ({ group, version }: GroupVersion): string => `${version}.${group}`

export class Registration {
  readonly #parts: RegistrationParts
  readonly #builtIn = new Map<string, Desired>()
  /** The versions that each definition serves. */
  readonly #definitions = new Map<string, readonly GroupVersion[]>()
  /** For each version: how many definitions serve it. */
  readonly #versions = new Map<string, { readonly of: GroupVersion; count: number }>()
  readonly #current = new Map<string, KubeObject>()
  readonly #settled = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  #atStart = new Set<string>()
  #started = false
  readonly #stops: (() => void)[] = []

  constructor(parts: RegistrationParts) {
    this.#parts = parts
    for (const one of parts.builtIn) {
      if (one.group === ownGroup) continue
      this.#builtIn.set(nameOf(one), desiredFor(one, one.priority, 'onstart'))
    }
  }

  /** Resolves when every local group version has its APIService. */
  async start(): Promise<void> {
    const { reader } = this.#parts
    this.#stops.push(
      await reader.follow('apiextensions.k8s.io', 'customresourcedefinitions', {
        changed: (definition) => this.#definitionChanged(definition, servedBy(definition)),
        deleted: (definition) => this.#definitionChanged(definition, []),
      }),
      await reader.follow(apiServices.group, apiServices.plural, {
        changed: (object) => this.#changed(object.metadata.name ?? '', object),
        deleted: (object) => this.#changed(object.metadata.name ?? '', undefined),
      }),
    )
    this.#atStart = new Set(this.#current.keys())
    this.#started = true
    const names = new Set([
      ...this.#builtIn.keys(),
      ...this.#versions.keys(),
      ...this.#current.keys(),
    ])
    await Promise.all([...names].map((name) => this.#settle(name)))
  }

  stop(): void {
    this.#started = false
    for (const stop of this.#stops.splice(0)) stop()
  }

  #definitionChanged({ metadata }: KubeObject, served: readonly GroupVersion[]): void {
    const name = metadata.name ?? ''
    const before = this.#definitions.get(name) ?? []
    if (served.length > 0) this.#definitions.set(name, served)
    else this.#definitions.delete(name)
    for (const one of served) this.#count(one, 1)
    for (const one of before) this.#count(one, -1)
    for (const touched of new Set([...before, ...served].map(nameOf))) this.#settle(touched)
  }

  #count(of: GroupVersion, more: number): void {
    const name = nameOf(of)
    const known = this.#versions.get(name) ?? { of, count: 0 }
    known.count += more
    if (known.count > 0) this.#versions.set(name, known)
    else this.#versions.delete(name)
  }

  #changed(name: string, object: KubeObject | undefined): void {
    if (object === undefined) this.#current.delete(name)
    else this.#current.set(name, object)
    this.#settle(name)
  }

  #desired(name: string): Desired | undefined {
    const known = this.#builtIn.get(name)
    if (known !== undefined) return known
    const found = this.#versions.get(name)
    return found && desiredFor(found.of, customPriority, 'true')
  }

  /**
   * Steps for the same name run one after another, because each depends on the result of the one
   * before.
   */
  #settle(name: string): Promise<void> {
    if (!this.#started) return Promise.resolve()
    const after = (this.#running.get(name) ?? Promise.resolve()).then(() => this.#step(name))
    const kept = after.catch((error) => {
      this.#parts.report(`the APIService ${name} cannot be kept`, error)
      setTimeout(() => this.#settle(name), retryMs).unref()
    })
    this.#running.set(name, kept)
    kept.then(() => {
      if (this.#running.get(name) === kept) this.#running.delete(name)
    })
    return kept
  }

  async #step(name: string): Promise<void> {
    if (!this.#started) return
    const desired = this.#desired(name)
    const current = this.#current.get(name)
    const step = nextStep(desired, current, this.#settled.has(name), this.#atStart.has(name))
    try {
      await this.#take(step, name, desired, current)
    } catch (error) {
      // The object was created, deleted or changed meanwhile; the watch delivers that change.
      if (!(error instanceof ApiError) || (error.code !== 404 && error.code !== 409)) throw error
    }
    this.#settled.add(name)
  }

  async #take(
    step: RegistrationStep,
    name: string,
    desired: Desired | undefined,
    current: KubeObject | undefined,
  ) {
    const { client } = this.#parts
    if (step === 'create' && desired !== undefined) {
      const labels = { [automanagedLabel]: desired.management }
      await client.create(apiServices, '', {
        metadata: { name, labels },
        spec: desired.spec,
      } as unknown as KubeObject)
    } else if (step === 'update' && desired !== undefined && current !== undefined) {
      await client.update(apiServices, {
        ...structuredClone(current),
        apiVersion,
        spec: desired.spec,
      })
    } else if (step === 'delete' && current !== undefined) {
      await client.delete(apiServices, '', name, { uid: current.metadata.uid as string })
    }
  }
}

function servedBy({ spec }: KubeObject): GroupVersion[] {
  const versions: Loose[] = spec?.versions ?? []
  return versions
    .filter(({ served }) => served === true)
    .map(({ name }) => ({ group: spec?.group, version: name }))
}
