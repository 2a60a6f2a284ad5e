/**
 * The compiled schema of one version of a custom kind: decoding, defaulting, validation and the
 * type for server-side apply. Each part is compiled on first use. Versions with an equal schema
 * share it.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goUntyped } from '#api/go-syntax.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { ApiError, badRequest } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { conform } from '#schema/conform.ts'
import { type Before, type SchemaCheck, Checker } from '#schema/structural/check.ts'
import { type Errors, fieldErrors } from '#schema/structural/check-result.ts'
import { coerceError } from '#schema/structural/coerce.ts'
import { Defaults, type Fill } from '#schema/structural/defaults.ts'
import { checkEmbedded } from '#schema/structural/embedded.ts'
import { hasDefault, type JsonSchema, propertyOf } from '#schema/structural/json-schema.ts'
import { isObject } from '#schema/misfit.ts'
import { checkListTypes } from '#schema/structural/list-types.ts'
import { type Copy, Pruner, type ReadMeta } from '#schema/structural/prune.ts'
import { isStructural } from '#schema/structural/rules.ts'
import { sortInPlace } from '#schema/structural/sorted-copy.ts'
import { typeOfSchema } from '#schema/structural/to-type.ts'
import type { Struct, Type } from '#schema/type.ts'
import { setKey } from '#schema/user-key.ts'
import { Correlation } from './rules/correlation.ts'
import { ObjectRules, type RuleSettings } from './rules/object-rules.ts'

/** Loaded with the first object that cannot be read. */
const loadProblem = loadLater<typeof import('#codec/go-json/metadata-problem.ts')>(
  import.meta.url,
  '#codec/go-json/metadata-problem',
)

const dropsNulls = change('a null that is not allowed gives way to the default, or is dropped', {
  since: 20,
})
const namesFields = change('errors of custom objects name each field that is wrong', { since: 16 })
const checksLists = change('items of sets and maps of custom objects must be unique', { since: 18 })
const checksListsOfStatus = change('items of sets and maps in a written status must be unique', {
  since: 26,
})
const checksStatusAlone = change('a written status is checked without the rest of the object', {
  since: 28,
})
const ratchetsStatus = change('values of a status that did not change may break rules', {
  since: 33,
})
const namesStatus = change('errors of a written status have paths that begin with status', {
  since: 31,
})

function inOne(object: KubeObject, errors: Errors): FieldError {
  const said = [...errors.values()].map(({ message }) => message).join('\n')
  return invalid('[]', asGo(goUntyped(object)), `validation failure list:\n${said}`)
}

const asEmbedded = ({ creationTimestamp, ...rest }: Loose): Json =>
  creationTimestamp ? { ...rest, creationTimestamp } : rest

export class CustomSchema {
  /** The schema in the definition. Undefined without a schema. */
  readonly given: JsonSchema | undefined
  readonly #objectMeta: Type
  readonly #keepAll: boolean
  readonly #release: Release
  #fill: Fill | undefined | null = null
  #check: SchemaCheck | undefined
  readonly #checker: Checker
  #type: Struct | undefined
  #copy: Copy | undefined
  #copyReadable: Copy | undefined
  #structural: boolean | undefined
  #rules: ObjectRules | undefined
  readonly #ruleSettings: RuleSettings | undefined

  /**
   * `rules` is absent if the release has no validation rules. `keepAll` means
   * preserveUnknownFields.
   */
  constructor(
    given: JsonSchema | undefined,
    objectMeta: Type,
    keepAll: boolean,
    release: Release,
    rules?: RuleSettings,
  ) {
    this.given = given
    this.#ruleSettings = rules
    this.#objectMeta = objectMeta
    this.#keepAll = keepAll
    this.#release = release
    this.#checker = new Checker({ release })
  }

  /** The schema if it is structural. */
  get structural(): JsonSchema | undefined {
    // Without preserveUnknownFields the API accepts only structural schemas, so no check is needed.
    if (this.given === undefined || !this.#keepAll) return this.given
    this.#structural ??= isStructural(this.given, FieldPath.root)
    return this.#structural ? this.given : undefined
  }

  get type(): Type {
    this.#type ??= typeOfSchema(this.structural, this.#objectMeta, this.#keepAll, this.#release)
    return this.#type
  }

  /**
   * A copy of all fields except the type header and metadata, without unknown fields and useless
   * nulls.
   */
  prune(body: Loose): Loose {
    this.#copy ??= this.#copyBy((field, value) => this.#readMeta(field, value))
    return this.#copy(body as Json) as Loose
  }

  /** Prunes a stored object. Invalid metadata fields of embedded objects are dropped. */
  pruneReadable(body: Loose): Loose {
    return this.#readable(body as Json) as Loose
  }

  #readable(whole: Json): Json {
    this.#copyReadable ??= this.#copyBy((field, value) => this.#readableMeta(field, value))
    return this.#copyReadable(whole)
  }

  #copyBy(readMeta: ReadMeta): Copy {
    const keepAll = this.#keepAll
    return new Pruner({ keepAll, keepNulls: this.#keepsNulls, readMeta }).of(this.given)
  }

  get #keepsNulls(): boolean {
    return !this.#release.has(dropsNulls)
  }

  /** Metadata in its canonical form. Throws ApiError (400). */
  readMetadata(raw: Json): Loose {
    return conform(this.#objectMeta, raw).value as Loose
  }

  /**
   * Decodes the metadata of a stored object and drops invalid fields. Throws if it is not an
   * object.
   */
  readableMetadata(raw: Loose): Loose {
    try {
      return this.readMetadata(raw)
    } catch (error) {
      if (!(error instanceof ApiError) || !isObject(raw as Json)) throw error
    }
    const isRead = ([name, value]: [string, Json]): boolean => {
      try {
        return this.readMetadata({ [name]: value }) !== undefined
      } catch (error) {
        if (error instanceof ApiError) return false
        throw error
      }
    }
    return this.readMetadata(Object.fromEntries(Object.entries(raw).filter(isRead)))
  }

  #readMeta(field: string, value: Json): Json | undefined {
    if (field !== 'metadata') {
      if (typeof value === 'string') return value
      throw badRequest(`${field}: Invalid value: ${JSON.stringify(value)}: must be a string`)
    }
    return asEmbedded(this.readMetadata(value))
  }

  /** Keeps a value that is not valid metadata at all. */
  #readableMeta(field: string, value: Json): Json | undefined {
    if (field !== 'metadata') return typeof value === 'string' ? value : undefined
    if (value !== null && !isObject(value)) return value
    return asEmbedded(this.readableMetadata((value ?? {}) as Loose))
  }

  /** The error for an object that cannot be decoded, with the requested kind. */
  asUnreadable(error: unknown, raw: Loose, kind: string, version: string): unknown {
    if (!(error instanceof ApiError) || error.code !== 400) return error
    const { metadata, ...body } = raw
    const { metadataProblem } = loadProblem()
    const why = metadataProblem((metadata ?? null) as Json) ?? this.#wrongInside(body)
    if (why === undefined) return error
    return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`)
  }

  /** The error in the type or metadata of an embedded object. */
  #wrongInside(body: Loose): string | undefined {
    const { metadataProblem } = loadProblem()
    const wrong = coerceError(this.given, body as Json, FieldPath.root, metadataProblem)
    return wrong && `${wrong.field}: ${wrong.message}`
  }

  fillDefaults(object: KubeObject): void {
    if (this.#fill === null) {
      this.#fill = new Defaults((whole) => this.#readable(whole), this.#keepsNulls).of(this.given)
    }
    if (this.#fill === undefined) return
    const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...body } = object
    const filled = this.#fill(body as Json) as Loose
    let added = false
    for (const key of Object.keys(filled)) {
      if (!Object.hasOwn(object, key)) added = true
      if (object[key] !== filled[key]) setKey(object, key, filled[key])
    }
    if (added) sortInPlace(object)
  }

  /** Whether the schema has a default for the status. */
  get defaultsStatus(): boolean {
    const status = this.given === undefined ? undefined : propertyOf(this.given, 'status')
    return status !== undefined && hasDefault(status)
  }

  /**
   * Errors of values. `before`: the object before an update, if values that did not change may be
   * wrong.
   */
  check(object: KubeObject, before?: Before): FieldError[] {
    if (this.given === undefined) return []
    this.#check ??= this.#checker.of(this.given)
    const errors: Errors = new Map()
    this.#check(object as unknown as Json, '', errors, before)
    if (errors.size === 0) return []
    if (!this.#release.has(namesFields)) return [inOne(object, errors)]
    return fieldErrors(errors, this.#release)
  }

  /** Value errors of an object if only its status is written. */
  checkStatus(object: KubeObject, before?: Before): FieldError[] {
    if (!this.#release.has(checksStatusAlone)) return this.check(object, before)
    const schema = this.given && propertyOf(this.given, 'status')
    if (schema === undefined || object.status === undefined) return []
    const errors: Errors = new Map()
    this.#checker.of(schema)(object.status, '', errors, before?.key('status'))
    const base = this.#release.has(namesStatus) ? FieldPath.of('status') : undefined
    return fieldErrors(errors, this.#release, base)
  }

  /** Whether lists were invalid before the update, in the fields that this version has. */
  #hadWrongLists(schema: JsonSchema, { metadata: _, ...old }: KubeObject): boolean {
    let seen: Loose = old
    try {
      seen = this.prune(old)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
    return checkListTypes(schema, seen as Json).length > 0
  }

  /** Errors of embedded objects and of lists that are sets or maps. */
  checkStructure(object: KubeObject, old: KubeObject | undefined): FieldError[] {
    const schema = this.structural
    if (schema === undefined) return []
    const lists = this.#release.has(checksLists) ? this.#checkLists(schema, object, old) : []
    return [...checkEmbedded(schema, object as unknown as Json, this.#release), ...lists]
  }

  /** Structural errors of an object if only its status is written. */
  checkStatusStructure(object: KubeObject, old: KubeObject | undefined): FieldError[] {
    const schema = this.structural
    if (schema === undefined || !this.#release.has(checksListsOfStatus)) return []
    return this.#checkLists(schema, object, old)
  }

  /** Lists that were invalid before an update may stay invalid. */
  #checkLists(schema: JsonSchema, object: KubeObject, old: KubeObject | undefined): FieldError[] {
    const errors = checkListTypes(schema, object as unknown as Json)
    const isNews = errors.length > 0 && (old === undefined || !this.#hadWrongLists(schema, old))
    return isNews ? errors : []
  }

  /** Errors of CEL validation rules. `errors` are the errors found so far. */
  checkRules(
    object: KubeObject,
    old: KubeObject | undefined,
    errors: readonly FieldError[],
    warn: (warning: string) => void,
    before?: Correlation,
  ): FieldError[] {
    const schema = this.structural
    if (schema === undefined || this.#ruleSettings === undefined) return []
    this.#rules ??= new ObjectRules(schema, this.#ruleSettings)
    const [value, oldValue] = [object as unknown as Json, old as unknown as Json]
    return this.#rules.check(value, oldValue, errors, warn, before)
  }

  /**
   * Correlates an object with its old version for ratcheting. Undefined if the release or the
   * schema does not support it.
   */
  correlate(
    object: KubeObject,
    old: KubeObject | undefined,
    isStatus: boolean,
  ): Correlation | undefined {
    const schema = this.structural
    if (schema === undefined || old === undefined || !this.#ruleSettings?.ratchets) return undefined
    if (isStatus && !this.#release.has(ratchetsStatus)) return undefined
    return new Correlation(object as unknown as Json, old as unknown as Json, schema)
  }
}
