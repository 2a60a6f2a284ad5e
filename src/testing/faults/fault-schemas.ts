/** The JSON schemas of a fault rule: for its check, and for the OpenAPI document. */
import type { ValueSchema } from '#testing/value-schema.ts'

const text: ValueSchema = { type: 'string' }
const count = (minimum: number): ValueSchema => ({ type: 'integer', minimum })
const delay: ValueSchema = { type: 'number', minimum: 0 }
const moment: ValueSchema = { type: 'string', enum: ['before', 'after'] }
const oneOrSeveral = (one: ValueSchema): ValueSchema => ({
  oneOf: [one, { type: 'array', items: one }],
})
const closed = (
  properties: Readonly<Record<string, ValueSchema>>,
  required: readonly string[] = [],
): ValueSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

const verb: ValueSchema = {
  type: 'string',
  enum: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
}

export const matchSchema: ValueSchema = closed({
  verb: oneOrSeveral(verb),
  resource: oneOrSeveral(text),
  group: text,
  namespace: text,
  name: text,
  user: text,
  userAgent: text,
  nth: count(1),
  times: count(1),
  probability: { type: 'number', minimum: 0, maximum: 1 },
  seed: { type: 'integer' },
  forMs: delay,
})

const errorSchema = closed(
  {
    code: { type: 'integer', minimum: 400, maximum: 599 },
    reason: text,
    message: text,
    retryAfterSeconds: count(0),
  },
  ['code'],
)

const watchSchema = closed({
  delayMs: delay,
  endAfter: count(0),
  gone: { type: 'boolean' },
  withholdBookmarks: { type: 'boolean' },
  skip: count(0),
})

/** Exactly one member, or an error with `when`. */
export const actionSchema: ValueSchema = closed({
  error: errorSchema,
  when: moment,
  delayMs: delay,
  cut: moment,
  watch: watchSchema,
  stale: closed({ revisions: count(0) }, ['revisions']),
  hook: { type: 'string', format: 'uri' },
})
