/**
 * Removes defaults from the schemas of OpenAPI v2, because clients of that version do not expect
 * them. Pure.
 */

type Schema = Record<string, unknown>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a schema that contain schemas: directly, in a list, or by name. */
const alone = new Set(['not', 'additionalProperties', 'additionalItems', 'items'])
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'items'])
const byName = new Set(['properties', 'patternProperties', 'definitions', 'dependencies'])

/** Removes defaults from a schema; returns the same value if there are none. */
export function withoutDefaults(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  let changed = false
  const entries: [string, unknown][] = []
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'default') {
      changed = true
      continue
    }
    const made = inside(key, value)
    if (made !== value) changed = true
    entries.push([key, made])
  }
  return changed ? Object.fromEntries(entries) : schema
}

function inside(key: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (!lists.has(key)) return value
    const made = value.map(withoutDefaults)
    return made.every((one, i) => one === value[i]) ? value : made
  }
  if (!isObject(value)) return value
  if (alone.has(key)) return withoutDefaults(value)
  if (!byName.has(key)) return value
  const made = Object.entries(value).map(([name, one]) => [name, withoutDefaults(one)] as const)
  return made.every(([name, one]) => one === value[name]) ? value : Object.fromEntries(made)
}
