/** Where in an object something is, printed as Kubernetes prints it: `spec.containers[0].env[name]`. */
export class FieldPath {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }

  static of(...names: string[]): FieldPath {
    return new FieldPath(names.join('.'))
  }

  static readonly root: FieldPath = new FieldPath('')

  /** No path at all, which Go prints as `<nil>`; what hangs below it starts anew. */
  static readonly none: FieldPath = new FieldPath('')

  child(...names: string[]): FieldPath {
    const tail = names.join('.')
    return new FieldPath(this.#text === '' ? tail : `${this.#text}.${tail}`)
  }

  index(i: number): FieldPath {
    return new FieldPath(`${this.#text}[${i}]`)
  }

  key(k: string): FieldPath {
    return new FieldPath(`${this.#text}[${k}]`)
  }

  toString(): string {
    return this === FieldPath.none ? '<nil>' : this.#text
  }
}
