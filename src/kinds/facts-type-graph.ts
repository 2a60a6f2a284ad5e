/**
 * Builds the type graph of a release from facts. Types are created on first use and cached. The
 * type of a field is resolved on first use, so recursive and unused types cost nothing.
 */
import type { Json } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { assert } from '#base/assert.ts'
import type { Field, List, Scalar, ScalarName, Struct, Type } from '#schema/type.ts'
import type { FactsTables, FieldOptions, FieldRow, TypeRow } from './facts-table.ts'
import { isIn, nameIn } from './facts-table.ts'

export interface TypeGraph {
  /**
   * The struct with this table and type name: `struct('core.v1', 'Pod')`. Undefined if it does not
   * exist.
   */
  struct(file: string, name: string): Struct | undefined
}

const scalarNames: readonly ScalarName[] = [
  'string',
  'bool',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'float64',
  'bytes',
  'time',
  'microTime',
  'duration',
  'quantity',
  'intOrString',
  'any',
]
const scalars: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...scalarNames.map((scalar): [string, Scalar] => [scalar, { is: 'scalar', scalar }]),
  ['uid', { is: 'scalar', scalar: 'string', named: 'types.UID' }],
  ['nodeName', { is: 'scalar', scalar: 'string', named: 'types.NodeName' }],
  ['rawExtension', { is: 'scalar', scalar: 'any', named: 'runtime.RawExtension' }],
  ['fieldsV1', { is: 'scalar', scalar: 'any', named: 'v1.FieldsV1' }],
  ['fields', { is: 'scalar', scalar: 'any', named: 'v1.Fields' }],
])
const noOptions: FieldOptions = {}

const declaresZeroDefaults = change(
  'fields that are never omitted have their zero value as default',
  { since: 20 },
)

export function typeGraph(tables: FactsTables, release: number): TypeGraph {
  const structs = new Map<string, Struct>()
  const namedScalar = scalarsByName()
  const nameOf = (file: string, name: string) => `${tables.releases.packages[file].openApi}.${name}`

  function struct(file: string, name: string): Struct | undefined {
    const key = `${file}.${name}`
    const known = structs.get(key)
    if (known !== undefined) return known
    const row = tables.types(file).types[name]
    if (row === undefined || !isIn(row, release)) return redefined(file, name)
    const made = structFrom(nameOf(file, name), row, release, (field) => fieldType(file, field))
    structs.set(key, made)
    return made
  }

  /**
   * A type with the fields of another struct and a name of its own: Go's
   * `type MatchCondition v1.MatchCondition`. An alias (`type Rule = v1.Rule`) has no own name.
   */
  function redefined(file: string, name: string): Struct | undefined {
    const row = nameIn(tables.types(file).names[name], release)
    if (row === undefined || row.alias === true || !/^[\w.]+$/.test(row.of)) return undefined
    const [inFile, inName] = placeOf(file, row.of)
    const of = struct(inFile, inName)
    if (of === undefined) return undefined
    const made: Struct = { ...of, name: nameOf(file, name) }
    structs.set(`${file}.${name}`, made)
    return made
  }

  const fieldType = (file: string, [, text, , , options = noOptions]: FieldRow): Type =>
    typeOf(file, text, options, false)

  function typeOf(file: string, text: string, options: FieldOptions, wrapped: boolean): Type {
    if (text.startsWith('[]')) {
      return listOf(typeOf(file, text.slice(2), noOptions, false), options, wrapped)
    }
    if (text.startsWith('{}')) {
      const values = typeOf(file, text.slice(2), noOptions, false)
      return { is: 'map', values, atomic: options.mapType === 'atomic' }
    }
    const scalar = scalars.get(text)
    if (scalar !== undefined) return scalar
    if (text === 'json') return namedScalar(`${file}.JSON`, { is: 'scalar', scalar: 'any' })
    const [inFile, name] = placeOf(file, text)
    const alias = nameIn(tables.types(inFile).names[name], release)
    if (alias !== undefined) {
      const own = alias.alias === true ? undefined : struct(inFile, name)
      if (own !== undefined) return own
      const type = typeOf(inFile, alias.of, options, alias.message === true)
      const isNew = type.is === 'scalar' && alias.alias !== true
      if (!isNew) return type
      const listed = alias.enum === true && { values: alias.values ?? [] }
      return namedScalar(`${inFile}.${name}`, { ...type, ...listed })
    }
    const found = struct(inFile, name)
    assert(found !== undefined, `facts: ${file} speaks of ${text}, which release ${release} lacks`)
    return found
  }

  return { struct }
}

function structFrom(
  name: string,
  row: TypeRow,
  release: number,
  typeOfField: (field: FieldRow) => Type,
): Struct {
  const zeroUndeclared = !releaseOf(release).has(declaresZeroDefaults)
  const fields = row.fields
    .filter((field) => isIn(field[4], release))
    .map((field) => new FactField(field, zeroUndeclared, () => typeOfField(field)))
  return {
    is: 'struct',
    name,
    fields,
    byName: row.union ? new Map() : lifted(fields),
    atomic: isFrom(row.atomicSince, release),
    open: false,
    ...(isFrom(row.granularSince, release) ? { granular: true } : undefined),
    ...(row.union ? { union: true } : undefined),
    ...(row.discriminator !== undefined ? { discriminator: row.discriminator } : undefined),
  }
}

const isFrom = (since: number | undefined, release: number): boolean =>
  since !== undefined && isIn({ since }, release)

/** The table and the name of a type: `Pod` is in the table that refers to it. */
function placeOf(file: string, text: string): [file: string, name: string] {
  const dot = text.lastIndexOf('.')
  return dot < 0 ? [file, text] : [text.slice(0, dot), text.slice(dot + 1)]
}

/** Creates named scalar types, one instance per name. */
function scalarsByName(): (key: string, type: Scalar) => Scalar {
  const named = new Map<string, Scalar>()
  return (key, type) => {
    let known = named.get(key)
    if (known === undefined) {
      // Go calls a package by its last part, which is its version: core.v1.Protocol → v1.Protocol.
      known = { ...type, named: key.slice(key.indexOf('.') + 1) }
      named.set(key, known)
    }
    return known
  }
}

/**
 * Without a list type, the patch strategy decides: merge by key is a map, merge without one a set.
 */
function listOf(items: Type, options: FieldOptions, wrapped: boolean): List {
  const { patchStrategy, patchMergeKey } = options
  const merges = patchStrategy === 'merge' || patchStrategy === 'merge,retainKeys'
  let listType = options.listType
  let mapKeys = options.listMapKeys ?? []
  if (listType === undefined && merges) {
    listType = patchMergeKey === undefined ? 'set' : 'map'
    if (patchMergeKey !== undefined) mapKeys = [patchMergeKey]
  }
  return {
    is: 'list',
    items,
    listType: listType ?? 'atomic',
    mapKeys,
    ...(patchStrategy !== undefined
      ? { patchStrategy: patchStrategy as List['patchStrategy'] }
      : undefined),
    ...(patchMergeKey !== undefined ? { patchMergeKey } : undefined),
    ...(wrapped ? { wrapped } : undefined),
    ...(options.listType !== undefined ? { declared: true } : undefined),
  }
}

/**
 * The JSON fields of a struct, with the fields of inlined structs. A field of the outer struct
 * hides an inlined field of the same name.
 */
function lifted(fields: readonly Field[]): ReadonlyMap<string, Field> {
  const own = new Set(fields.map((field) => field.name))
  const byName = new Map<string, Field>()
  for (const field of fields) {
    if (!field.inline) {
      byName.set(field.name, field)
      continue
    }
    assert(field.type.is === 'struct', 'facts: only a struct can be inlined')
    for (const [name, inner] of field.type.byName) if (!own.has(name)) byName.set(name, inner)
  }
  return byName
}

class FactField implements Field {
  readonly name: string
  readonly inline: boolean
  readonly number: number
  readonly omitEmpty: boolean
  readonly omitZero: boolean
  readonly pointer: boolean
  readonly required: boolean
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: List['listType']
  readonly granular: boolean
  readonly default?: Json
  readonly zeroUndeclared: boolean
  #type: Type | undefined
  readonly #resolve: () => Type

  constructor(
    [name, , number, flags, options = noOptions]: FieldRow,
    zeroUndeclared: boolean,
    resolve: () => Type,
  ) {
    this.name = name
    this.inline = flags.includes('i')
    this.number = number
    this.omitEmpty = flags.includes('o')
    this.omitZero = flags.includes('z')
    this.pointer = flags.includes('p')
    this.required = flags.includes('r')
    if (options.patchStrategy !== undefined) this.patchStrategy = options.patchStrategy
    if (options.patchMergeKey !== undefined) this.patchMergeKey = options.patchMergeKey
    if (options.listType !== undefined) this.listType = options.listType
    if (options.default !== undefined) this.default = options.default
    this.granular = options.mapType === 'granular'
    this.zeroUndeclared = zeroUndeclared
    this.#resolve = resolve
  }

  get type(): Type {
    this.#type ??= this.#resolve()
    return this.#type
  }
}
