/**
 * The configured webhooks, updated by watches. They are sorted by configuration name, then by their
 * order in the configuration.
 */
import { byCodePoint } from '#api/go-syntax.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type Hook, hooksOf } from './hook.ts'

export class HookSource {
  readonly #plural: string
  readonly #byConfiguration = new Map<string, Hook[]>()
  #hooks: readonly Hook[] = []

  constructor(plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations') {
    this.#plural = plural
  }

  get hooks(): readonly Hook[] {
    return this.#hooks
  }

  async follow(reader: ObjectReader): Promise<void> {
    await reader.follow('admissionregistration.k8s.io', this.#plural, {
      changed: (object) => {
        this.#byConfiguration.set(object.metadata.name as string, hooksOf(object))
        this.#arrange()
      },
      deleted: ({ metadata }) => {
        this.#byConfiguration.delete(metadata.name as string)
        this.#arrange()
      },
    })
  }

  #arrange(): void {
    const names = [...this.#byConfiguration.keys()].sort(byCodePoint)
    this.#hooks = names.flatMap((name) => this.#byConfiguration.get(name) as Hook[])
  }
}
