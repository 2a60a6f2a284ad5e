/**
 * The differences between OpenAPI v2 and v3: how a schema refers to another schema, and which
 * keywords it may have.
 */
import type { JsonObject } from './source.ts'

export interface SchemaForm {
  readonly version: 2 | 3
  /** A reference to a definition, with additional keywords. */
  refer(name: string, more: JsonObject): JsonObject
}

/** Escapes a name for a JSON pointer. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

export const form2: SchemaForm = {
  version: 2,
  refer: (name, more) => ({ ...more, $ref: `#/definitions/${escaped(name)}` }),
}

/** OpenAPI v3 allows no keywords next to `$ref`. */
export const form3: SchemaForm = {
  version: 3,
  refer(name, more) {
    const ref = { $ref: `#/components/schemas/${escaped(name)}` }
    return Object.keys(more).length === 0 ? ref : { ...more, allOf: [ref] }
  },
}
