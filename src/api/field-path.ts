/**
 * The path of a field, printed as Kubernetes prints it: `spec.containers[0].env[name]`. Validation
 * creates a path for every field, but only prints those with errors. So the text is built only on
 * demand.
 */
export class FieldPath {
  readonly #above: FieldPath | undefined
  readonly #name: string | number
  readonly #bracketed: boolean

  constructor(name: string | number, above?: FieldPath, bracketed = false) {
    this.#name = name
    this.#above = above
    this.#bracketed = bracketed
  }

  static of(...names: string[]): FieldPath {
    return new FieldPath(names.join('.'))
  }

  static readonly root: FieldPath = new FieldPath('')

  /** The nil path, which Go prints as `<nil>`. Its children start a new path. */
  static readonly none: FieldPath = new FieldPath('')

  child(name: string, ...below: string[]): FieldPath {
    return new FieldPath(below.length === 0 ? name : `${name}.${below.join('.')}`, this)
  }

  index(i: number): FieldPath {
    return new FieldPath(i, this, true)
  }

  key(k: string): FieldPath {
    return new FieldPath(k, this, true)
  }

  toString(): string {
    return this === FieldPath.none ? '<nil>' : this.#text()
  }

  #text(): string {
    const above = this.#above === undefined ? '' : this.#above.#text()
    if (this.#bracketed) return `${above}[${this.#name}]`
    // An element with an empty name is printed as a key.
    if (this.#name === '' && this.#above !== undefined) return `${above}[]`
    return above === '' ? String(this.#name) : `${above}.${this.#name}`
  }
}
