/**
 * From facts to kinds: every built-in resource of the emulated release. Types, codecs and defaults
 * of a kind are compiled when they are first needed, so that start-up does not grow with the number
 * of kinds.
 */
import { servesCbor } from '#codec/media-type.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import type { FieldError } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf, change } from '#api/releases/change.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import { compileDefaults } from '#schema/apply-defaults.ts'
import { conform } from '#schema/conform.ts'
import type { Field, Struct, Type } from '#schema/type.ts'
import { behaviourOfRelease } from './behaviour-of-release.ts'
import { withInternalValues } from './all-kinds/internal-value.ts'
import { dropsRepetitions, errorsOccurOnce, withoutRepetitions } from './declarative/once-each.ts'
import type { Declared } from './declarative/validate-declared.ts'
import { deprecationOf } from './deprecation.ts'
import type { Facts, ResourceFact } from './facts.ts'
import type {
  Behaviour,
  Conformed,
  DeclaredWrite,
  Kind,
  ObjectFormat,
  Resource,
  Subresource,
} from './kind.ts'
import type { KindRules } from './kind-rules.ts'
import type { ReadingOptions, UpgradeStored } from './older-objects.ts'
import { kindRowOf, type KindRow, rulesIn } from './registry.ts'

const loadDeclared = loadLater<typeof import('./declarative/validate-declared.ts')>(
  import.meta.url,
  './declarative/validate-declared',
)
const loadStatus = loadLater<typeof import('./all-kinds/status-strategy.ts')>(
  import.meta.url,
  './all-kinds/status-strategy',
)
const loadOlder = loadLater<typeof import('./older-objects.ts')>(import.meta.url, './older-objects')

export interface BuiltInOptions extends ReadingOptions {
  /**
   * Whether a group version, or one resource of it, is served. `fact.off`: served only if enabled.
   */
  readonly serves: (fact: ResourceFact) => boolean
  /** '/registry', or the value of --etcd-prefix. */
  readonly root: string
}

/** This gate removes selfLink from objects. On since 1.20. */
export const pathless = 'RemoveSelfLink'

const builtInFormats: ReadonlySet<ObjectFormat> = new Set(['json', 'yaml', 'protobuf'])
const formatsWithCbor: ReadonlySet<ObjectFormat> = new Set([...builtInFormats, 'cbor'])
const noRules: KindRules = { behaviour: {} }
const apiVersionOf = (group: string, version: string) =>
  group === '' ? version : `${group}/${version}`

export function builtInResources(facts: Facts, options: BuiltInOptions): Resource[] {
  const groups = new Map<string, ResourceFact[]>()
  for (const fact of facts.resourcesOf(options.release)) {
    if (!options.serves(fact)) continue
    if (fact.gate !== undefined && !options.feature(fact.gate)) continue
    const key = fact.storage?.prefix ?? `virtual/${fact.group}/${fact.version}/${fact.plural}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [fact])
    else group.push(fact)
  }
  return [...groups.values()].map((served) => new BuiltInResource(facts, options, served))
}

class BuiltInResource implements Resource {
  readonly errorGroup: string
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  readonly storagePrefix: string
  readonly kinds: readonly Kind[]
  readonly stored: Kind
  readonly hub: Kind
  readonly #facts: Facts
  readonly #options: BuiltInOptions
  readonly #row: KindRow | undefined
  readonly #all = new Map<string, Kind>()
  #rules: KindRules | undefined
  #behaviour: Behaviour | undefined
  #upgradeStored: UpgradeStored | undefined

  constructor(facts: Facts, options: BuiltInOptions, served: ResourceFact[]) {
    const [first] = served
    this.#facts = facts
    this.#options = options
    const home = homeOf(served)
    this.group = home.group
    this.plural = home.plural
    this.#row = kindRowOf(home.group, home.plural)
    this.errorGroup = errorGroupOf(home, options.release)
    this.namespaced = first.namespaced
    this.storagePrefix =
      first.storage === undefined ? '' : `${options.root}/${first.storage.prefix}`
    this.kinds = served.map((fact) => this.#kind(fact))
    const { storage } = first
    this.stored =
      (storage && this.kindOf(apiVersionOf(storage.group, storage.version))) ?? this.kinds[0]
    this.hub = this.#hubOf(facts, options.release) ?? this.stored
  }

  get selectsByFields(): boolean {
    return this.#row?.selectsByFields ?? false
  }

  /** Loaded when first needed. */
  get rules(): KindRules {
    this.#rules ??= this.#row === undefined ? this.#rulesOfAny() : rulesIn(this.#row.folder)
    return this.#rules
  }

  /** The rules of a kind without a row. */
  #rulesOfAny(): KindRules {
    const hasStatus = this.kinds.some(({ subresources }) => subresources.has('status'))
    return hasStatus ? { behaviour: loadStatus().statusStrategy } : noRules
  }

  get behaviour(): Behaviour {
    const { folder = '' } = this.#row ?? {}
    this.#behaviour ??= behaviourOfRelease(this.rules, folder, this.#options.release)
    return this.#behaviour
  }

  restore(object: KubeObject): KubeObject | undefined {
    const { group, plural } = this
    const kindOf = (apiVersion: string) => this.kindOf(apiVersion)
    this.#upgradeStored ??= loadOlder().storedUpgrader({ group, plural, kindOf }, this.#options)
    return this.#upgradeStored(object)
  }

  #hubOf(facts: Facts, release: number): Kind | undefined {
    const { hub = '', olderHub } = this.#row ?? {}
    if (olderHub === undefined) return this.kindOf(hub)
    const known = facts.resourcesOf(release).filter(({ plural }) => plural === this.plural)
    const isKnown = (version: string) =>
      known.some((fact) => `${fact.group}/${fact.version}` === version)
    const version = [hub, olderHub].find(isKnown)
    return version === undefined ? undefined : this.kindOf(version)
  }

  #kind(fact: ResourceFact): Kind {
    const made = new BuiltInKind(fact, this, this.#facts, this.#options)
    this.#all.set(made.apiVersion, made)
    return made
  }

  /**
   * The kind for a stored apiVersion, including versions that this release does not serve, because
   * an older or newer release may have written the object. For a removed version, the last release
   * that had it is used; it can decode all earlier forms.
   */
  kindOf(apiVersion: string): Kind | undefined {
    const known = this.#all.get(apiVersion)
    if (known !== undefined || apiVersion === '') return known
    const prefix = this.storagePrefix.slice(this.#options.root.length + 1)
    const fact = this.#facts.newestStoredAt(prefix, groupOf(apiVersion), versionOf(apiVersion))
    return fact && this.#kind(fact)
  }

  convert(objects: KubeObject[], from: Kind, to: Kind): KubeObject[] {
    if (from === to) return objects
    const { conversions: table } = this.rules
    return objects.map((object) => {
      const hub = table?.[from.apiVersion]?.toHub(object, this.#options.release) ?? object
      const converted = table?.[to.apiVersion]?.fromHub(hub) ?? hub
      converted.kind = to.kind
      converted.apiVersion = to.apiVersion
      if (table !== undefined) fillTexts(to.type, converted)
      return converted
    })
  }

  sameShape(a: Kind, b: Kind): boolean {
    if (a === b) return true
    const { conversions: table } = this.rules
    return table?.[a.apiVersion] === undefined && table?.[b.apiVersion] === undefined
  }
}

const textsAlwaysWritten = new WeakMap<Type, readonly string[]>()

/** Adds empty strings that one version always writes and another version omits. */
function fillTexts(type: Type, object: KubeObject): void {
  let names = textsAlwaysWritten.get(type)
  if (names === undefined) {
    const fields = type.is === 'struct' ? [...type.byName] : []
    names = fields.filter(([, field]) => isPlainText(field)).map(([name]) => name)
    textsAlwaysWritten.set(type, names)
  }
  for (const name of names) object[name] ??= ''
}

const isPlainText = ({ type, pointer, omitEmpty }: Field): boolean =>
  type.is === 'scalar' && type.scalar === 'string' && !pointer && !omitEmpty

/**
 * The main group of a resource that several groups serve: core for events, otherwise any group
 * except extensions.
 */
function homeOf(served: ResourceFact[]): ResourceFact {
  const events = served.find(({ group, plural }) => group === '' && plural === 'events')
  return events ?? served.find(({ group }) => group !== 'extensions') ?? served[0]
}

const errorsNameExtensions = change(
  'errors of Ingress and NetworkPolicy name the group extensions',
  { since: 18, until: 25 },
)

const policiesAreExtensions = change('errors of PodSecurityPolicy name the group extensions', {
  until: 15,
})

/**
 * Errors name the group that kube-apiserver registered a type in first, which for these is that of
 * their past.
 */
function errorGroupOf({ group, plural }: ResourceFact, release: number): string {
  if (plural === 'podsecuritypolicies')
    return releaseOf(release).has(policiesAreExtensions) ? 'extensions' : group
  const moved = plural === 'ingresses' || plural === 'networkpolicies'
  return moved && releaseOf(release).has(errorsNameExtensions) ? 'extensions' : group
}

class BuiltInKind implements Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly apiVersion: string
  readonly verbs: ReadonlySet<string>
  readonly subresources: ReadonlyMap<string, Subresource>
  readonly resource: BuiltInResource
  readonly origin = 'built-in'
  readonly formats: ReadonlySet<ObjectFormat>
  readonly decoding = 'typed'
  readonly itemsCarryType = false
  readonly tables: boolean
  readonly selfLinks: boolean
  readonly deprecation: Kind['deprecation']
  readonly #facts: Facts
  readonly #options: BuiltInOptions
  readonly #release: number
  readonly #dropsRepetitions: boolean
  #type: Type | undefined
  #defaults: ((object: KubeObject) => void) | undefined
  #declared: Declared | 'none' | undefined

  constructor(
    fact: ResourceFact,
    resource: BuiltInResource,
    facts: Facts,
    options: BuiltInOptions,
  ) {
    this.group = fact.group
    this.version = fact.version
    this.kind = fact.kind
    this.listKind = fact.listKind
    this.plural = fact.plural
    this.singular = fact.singular
    this.shortNames = fact.shortNames
    this.categories = fact.categories
    this.namespaced = fact.namespaced
    this.apiVersion = apiVersionOf(fact.group, fact.version)
    this.verbs = new Set(fact.verbs)
    this.subresources = new Map(
      fact.subresources
        .filter(({ gate }) => gate === undefined || options.feature(gate))
        .map((one) => [one.name, subresourceOf(one)]),
    )
    this.resource = resource
    const isStored = fact.storage !== undefined
    const { tablesSince } = kindRowOf(fact.group, fact.plural) ?? {}
    // Resources that are not stored, such as reviews and bindings, have no tables. Component
    // statuses are an exception.
    this.tables = tablesSince === undefined ? isStored : releaseOf(options.release).has(tablesSince)
    this.selfLinks = !options.feature(pathless)
    this.formats = options.feature(servesCbor) ? formatsWithCbor : builtInFormats
    this.deprecation = deprecationOf(fact, options.release)
    this.#facts = facts
    this.#options = options
    this.#dropsRepetitions =
      releaseOf(options.release).has(errorsOccurOnce) && dropsRepetitions(fact.group)
    this.#release = Math.min(Math.max(options.release, fact.since), fact.until)
  }

  get type(): Type {
    if (this.#type === undefined) {
      const name = this.#facts.openApiNameOf(this.group, this.version, this.kind) as string
      this.#type = this.#facts.typeOf(name, this.#release)
    }
    return this.#type
  }

  conform(raw: Loose): Conformed {
    const { kind, version, apiVersion } = this
    const { value, unknown } = conform(this.type, raw as Json, { kind, version, as: kind })
    const object = value as unknown as KubeObject
    object.kind = kind
    object.apiVersion = apiVersion
    return { object, unknown }
  }

  applyDefaults(object: KubeObject): void {
    this.#defaults ??= compileDefaults(this.type, this.resource.rules.defaults ?? {}, this.#options)
    this.#defaults(object)
  }

  withDeclared(write: DeclaredWrite, found: FieldError[]): FieldError[] {
    const all = this.#withDeclared(write, found)
    return withInternalValues(all, (name) => this.#facts.typeOf(name, this.#release))
  }

  #withDeclared(write: DeclaredWrite, found: FieldError[]): FieldError[] {
    this.#declared ??= this.#compileDeclared()
    const errors = this.#dropsRepetitions && found.length > 1 ? withoutRepetitions(found) : found
    if (this.#declared === 'none') return errors
    const next = this.#fromHub(write.next)
    const old = write.old && this.#fromHub(write.old)
    return this.#declared({ ...write, next, ...(old !== undefined ? { old } : undefined) }, errors)
  }

  #compileDeclared(): Declared | 'none' {
    const [facts, release] = [this.#facts, this.#release]
    const file = facts.fileOf(this.group, this.version)
    if (file === undefined || facts.rulesOf(file, release) === undefined) return 'none'
    const read = (of: string) => facts.rulesOf(of, release)
    const { declaredRules } = loadDeclared()
    return declaredRules(read, file, this.type as Struct, this.kind, release) ?? 'none'
  }

  #fromHub(object: KubeObject): KubeObject {
    const { hub } = this.resource
    if (this.resource.sameShape(hub, this)) return object
    const [converted] = this.resource.convert([copyData(object)], hub, this) as KubeObject[]
    return converted as KubeObject
  }
}

function subresourceOf(fact: ResourceFact['subresources'][number]): Subresource {
  return {
    name: fact.name,
    apiVersion: apiVersionOf(fact.group, fact.version),
    kind: fact.kind,
    verbs: new Set(fact.verbs),
  }
}
