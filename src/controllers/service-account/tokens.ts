/**
 * Manages service account tokens in Secrets. Releases up to 1.23 create one for each account; every
 * Secret of the token type gets one. The controller also deletes tokens of deleted accounts and
 * references to deleted Secrets. It does not handle bound tokens, which are never stored.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import {
  accountNameKey,
  accountUidKey,
  digestOf,
  type KeptSecret,
  tokenSecretType,
} from '#controllers/kept.ts'
import {
  isMissing,
  isTerminating,
  queueFor,
  splitKey,
  unlessMissing,
  unlessOvertaken,
} from '#controllers/queue-for.ts'
import { secrets, serviceAccounts } from '#controllers/resources.ts'
import { TokenSecrets } from './token-secrets.ts'

const everyAccountHasToken = change('every service account gets a Secret with a token', {
  until: 23,
})

/**
 * The name prefix of token Secrets. It is truncated like all generated names, because account names
 * may be longer.
 */
const tokenPrefix = (account: string) => `${account}-token-`.slice(0, 58)

export const tokenController: Controller = {
  name: 'serviceaccount-token',
  account: 'tokens-controller',
  start(parts) {
    if (parts.mint === undefined) return
    const tokens = new Tokens(parts)
    tokens.start()
  },
}

class Tokens {
  readonly #parts: ControllerParts
  readonly #bySecret = new TokenSecrets()
  readonly #authorityDigest: string

  constructor(parts: ControllerParts) {
    this.#parts = parts
    this.#authorityDigest = digestOf(parts.rootCertificates)
  }

  start(): void {
    const { informers } = this.#parts
    const accounts = informers.serviceAccounts()
    const found = informers.secrets()
    const accountQueue = queueFor('serviceaccount-token', this.#parts, async (key) => {
      await Promise.all([accounts.synced, found.synced])
      await this.#account(...splitKey(key))
    })
    const secretQueue = queueFor('serviceaccount-token', this.#parts, async (key) => {
      await Promise.all([accounts.synced, found.synced])
      await this.#secret(...splitKey(key))
    })
    const accountOf = (secret: KeptSecret) => `${secret.namespace}/${secret.account}`
    accounts.listen({
      changed: ({ namespace, name }) => accountQueue.add(`${namespace}/${name}`),
      deleted: ({ namespace, name }) => accountQueue.add(`${namespace}/${name}`),
    })
    found.listen({
      changed: (secret) => {
        if (secret.type !== tokenSecretType) return
        this.#bySecret.set(secret)
        secretQueue.add(`${secret.namespace}/${secret.name}`)
      },
      deleted: (secret) => {
        if (secret.type !== tokenSecretType) return
        this.#bySecret.delete(secret)
        accountQueue.add(accountOf(secret))
      },
    })
  }

  async #account(namespace: string, name: string): Promise<void> {
    const { client, informers } = this.#parts
    const account = informers.serviceAccounts().get(namespace, name)
    const own = this.#bySecret.of(namespace, name)
    if (account === undefined) {
      for (const secret of own) await this.#removeOrphan(secret)
      return
    }
    for (const secret of own) {
      if (secret.accountUid !== '' && secret.accountUid !== account.uid)
        await this.#removeOrphan(secret)
    }
    if (account.deleting) return
    const there = new Set(own.map((secret) => secret.name))
    // Removes only names that look like generated token names of the account. Other names may have
    // any purpose.
    const gone = account.secrets.filter(
      (secret) => !there.has(secret) && secret.startsWith(tokenPrefix(name)),
    )
    const has = account.secrets.some((secret) => there.has(secret))
    const wants = !has && releaseOf(this.#parts.release).has(everyAccountHasToken)
    if (!wants && gone.length === 0) return
    // The informer may be outdated, so read the current account before deciding.
    const live = await unlessMissing(client.get(serviceAccounts, namespace, name))
    if (live === undefined || live.metadata.uid !== account.uid) return
    await this.#refer(live, gone, wants)
  }

  async #refer(account: KubeObject, gone: readonly string[], wants: boolean): Promise<void> {
    const { client } = this.#parts
    const namespace = account.metadata.namespace as string
    const kept: { name?: string }[] = []
    let has = false
    for (const reference of account.secrets ?? []) {
      const secret = await unlessMissing(client.get(secrets, namespace, reference.name ?? ''))
      if (secret === undefined && gone.includes(reference.name)) continue
      if (secret?.type === tokenSecretType && belongs(secret, account)) has = true
      kept.push(reference)
    }
    const made = wants && !has ? await this.#make(account) : undefined
    if (made === undefined && kept.length === (account.secrets ?? []).length) return
    const next = [...kept, ...(made === undefined ? [] : [{ name: made }])]
    try {
      await client.update(serviceAccounts, { ...account, secrets: next })
    } catch (error) {
      if (made !== undefined) await client.delete(secrets, namespace, made).catch(() => {})
      if (!isMissing(error)) throw error
    }
  }

  /** Creates a token Secret and returns its name. Undefined if the namespace is terminating. */
  async #make(account: KubeObject): Promise<string | undefined> {
    const { client, randomSuffix } = this.#parts
    const { name: accountName = '', namespace = '', uid = '' } = account.metadata
    const name = tokenPrefix(accountName) + randomSuffix()
    const annotations = { [accountNameKey]: accountName, [accountUidKey]: uid }
    const secret = { metadata: { name, namespace, annotations }, type: tokenSecretType }
    try {
      await client.create(secrets, namespace, this.#filled(secret, account))
      return name
    } catch (error) {
      if (isMissing(error) || isTerminating(error)) return undefined
      throw error
    }
  }

  #filled(secret: KubeObject, account: KubeObject): KubeObject {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const { mint, rootCertificates } = this.#parts
    const name = secret.metadata.name as string
    const token = secret.data?.token || base64(mint?.forSecret(account, name) ?? '')
    const namespace = base64(account.metadata.namespace ?? '')
    return {
      ...secret,
      data: { ...secret.data, 'ca.crt': base64(rootCertificates), namespace, token },
    }
  }

  async #secret(namespace: string, name: string): Promise<void> {
    const { client, informers } = this.#parts
    const secret = informers.secrets().get(namespace, name)
    if (secret === undefined || secret.account === '') return
    const account = await unlessMissing(client.get(serviceAccounts, namespace, secret.account))
    const stranger = secret.accountUid !== '' && secret.accountUid !== account?.metadata.uid
    if (account === undefined || stranger) return this.#removeOrphan(secret)
    const full =
      secret.hasToken &&
      secret.dataNamespace === namespace &&
      secret.authorityDigest === this.#authorityDigest
    if (full && secret.accountUid !== '') return
    const live = await unlessMissing(client.get(secrets, namespace, name))
    if (live === undefined || live.metadata.uid !== secret.uid) return
    const next = this.#filled(live, account)
    const annotations = {
      ...live.metadata.annotations,
      [accountUidKey]: account.metadata.uid as string,
    }
    await client.update(secrets, { ...next, metadata: { ...live.metadata, annotations } })
  }

  /**
   * Its account is gone: looked at once more, since the picture may be behind, and then deleted.
   */
  async #removeOrphan(secret: KeptSecret): Promise<void> {
    const { client } = this.#parts
    const { namespace, name, account, uid } = secret
    const live = await unlessMissing(client.get(serviceAccounts, namespace, account))
    if (live !== undefined && (secret.accountUid === '' || live.metadata.uid === secret.accountUid))
      return
    await unlessOvertaken(client.delete(secrets, namespace, name, { uid }))
  }
}

const belongs = (secret: KubeObject, account: KubeObject) =>
  secret.metadata.annotations?.[accountNameKey] === account.metadata.name &&
  secret.metadata.annotations?.[accountUidKey] === account.metadata.uid
