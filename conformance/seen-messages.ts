/**
 * Which messages a recording has already. Messages that differ in their values alone count as one:
 *
 *   spec.ports[1].name: Invalid value: "A": must be …
 *   spec.ports[0].name: Invalid value: "b c": must be …
 */
import type { FieldChange } from './field-changes.ts'
import type { RuleRow } from './rule-rows.ts'

/**
 * The message without its object: values, places in lists and the holder of a pod template are left
 * out. Since 1.34 objects in messages are JSON.
 */
const gist = (told: string): string =>
  told
    .replace(/^(spec\.jobTemplate\.)?(spec\.)?template\.(?=spec)/, '')
    .replace(/"(?:[^"\\]|\\.)*"|'[^']*'|-?\b\d+\b/g, '_')
    .replace(/(?<= value: )[{[]\S*[}\]]/, '_')

/** Long ones differ in what they show of the value. */
const gistOfLong = (told: string, path: FieldChange['path']): string =>
  `${path.slice(0, 3).join('.')} ${gist(told.split(' value: ', 1)[0] as string)}`

export class SeenMessages {
  readonly #seen = new Set<string>()

  /** Whether one of the messages was not seen before. */
  isNew([name, way, path, , told]: RuleRow): boolean {
    if (typeof told === 'string') return this.#isFirst(`${kindOf(name)} ${way} ${path.join('.')}`)
    const plural = name.split(' ')[1]?.split('/')[0]
    let isNew = false
    for (const one of told) {
      const of = /template/.test(one) ? '' : plural
      const said = one.includes('… #') ? gistOfLong(one, path) : gist(one)
      if (this.#isFirst(`${of} ${way === 'status' ? way : ''} ${said}`)) isNew = true
    }
    return isNew
  }

  #isFirst(key: string): boolean {
    const isFirst = !this.#seen.has(key)
    this.#seen.add(key)
    return isFirst
  }
}

/** The kind without its shape: an accepted value of a field is recorded in one shape. */
const kindOf = (name: string): string => name.split('/').slice(0, -1).join('/')
