/** The description of one method of one path, for OpenAPI v2 and v3. */
import type { Parameter } from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface OpenApiOperation {
  readonly path: string
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
  readonly parameters: readonly Parameter[]
  /** The definition name of the body. */
  readonly body?: { readonly type: string; readonly required: boolean }
  /** Status codes whose body is `answer`; 401 is added. */
  readonly codes: readonly number[]
  /** The name of a definition, or 'string' for plain text. */
  readonly answer?: string
  readonly action?: string
  readonly gvk?: GroupVersionKind
}

export const reasonPhrases: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
}
