/**
 * The two forms of OpenAPI differ in how a schema refers to another and in what it can say. A form
 * knows which it is.
 */
import type { JsonObject } from './source.ts'

export interface SchemaForm {
  readonly version: 2 | 3
  /** A reference to a definition, with further members beside it. */
  refer(name: string, more: JsonObject): JsonObject
}

/** A JSON pointer's own escapes. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

export const form2: SchemaForm = {
  version: 2,
  refer: (name, more) => ({ ...more, $ref: `#/definitions/${escaped(name)}` }),
}

/** In the third form nothing may stand beside a reference. */
export const form3: SchemaForm = {
  version: 3,
  refer(name, more) {
    const ref = { $ref: `#/components/schemas/${escaped(name)}` }
    return Object.keys(more).length === 0 ? ref : { ...more, allOf: [ref] }
  },
}
