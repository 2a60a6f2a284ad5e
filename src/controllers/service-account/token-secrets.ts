/** Which Secrets hold tokens of which account: an index, instead of going through all Secrets. */
import type { KeptSecret } from '#controllers/kept.ts'

export class TokenSecrets {
  readonly #byAccount = new Map<string, Map<string, KeptSecret>>()
  readonly #accountOf = new Map<string, string>()

  set(secret: KeptSecret): void {
    const key = `${secret.namespace}/${secret.name}`
    this.delete(secret)
    const account = `${secret.namespace}/${secret.account}`
    this.#accountOf.set(key, account)
    const known = this.#byAccount.get(account)
    if (known === undefined) this.#byAccount.set(account, new Map([[key, secret]]))
    else known.set(key, secret)
  }

  delete({ namespace, name }: KeptSecret): void {
    const key = `${namespace}/${name}`
    const account = this.#accountOf.get(key)
    if (account === undefined) return
    this.#accountOf.delete(key)
    const known = this.#byAccount.get(account)
    known?.delete(key)
    if (known?.size === 0) this.#byAccount.delete(account)
  }

  of(namespace: string, account: string): KeptSecret[] {
    return [...(this.#byAccount.get(`${namespace}/${account}`)?.values() ?? [])]
  }
}
