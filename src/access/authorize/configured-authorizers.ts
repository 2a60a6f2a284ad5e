/**
 * The authorizers of --authorization-config. The file is read again while the server runs. A valid
 * configuration replaces the previous one as a whole; an invalid one changes nothing. Node, RBAC
 * and ABAC are only available if the initial configuration has them.
 */
import { readFileSync } from 'node:fs'
import type { Attributes, Authorizer, Decision, RuleResolver, Rules } from '#access/authorize.ts'
import type { ReloadMeter } from '#access/settings.ts'
import type { User } from '#access/user.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Release } from '#api/releases/change.ts'
import {
  type ConfiguredAuthorizer,
  readAuthorizationConfiguration,
} from './authorization-configuration.ts'
import { namesAuthorizers, UnionAuthorizer, UnionRuleResolver } from './union.ts'

export type Mode = Authorizer &
  RuleResolver & { follow?(reader: ObjectReader): Promise<() => void> }

export interface AuthorizersOptions {
  readonly file: string
  readonly release: Release
  /** Makes an authorizer; `isStart` is false when the file is read again. */
  readonly make: (choice: ConfiguredAuthorizer, isStart: boolean) => Promise<Mode>
  readonly report: (message: string) => void
  readonly reloaded?: ReloadMeter | undefined
  /** How often the file is checked, in milliseconds; default: a minute. */
  readonly readAgainMs?: number
}

const readAgainMsUsual = 60_000

export class ConfiguredAuthorizers implements Authorizer, RuleResolver {
  readonly name = 'configured'
  readonly #options: AuthorizersOptions
  readonly #timer: NodeJS.Timeout
  #text: string
  #modes: readonly Mode[]
  #authorizer: UnionAuthorizer
  #rules: UnionRuleResolver

  private constructor(options: AuthorizersOptions, text: string, chain: Chain) {
    this.#options = options
    this.#text = text
    this.#modes = chain.modes
    this.#authorizer = new UnionAuthorizer(chain.modes, chain.names)
    this.#rules = new UnionRuleResolver(chain.modes)
    const everyMs = options.readAgainMs ?? readAgainMsUsual
    this.#timer = setInterval(() => void this.#readAgain(), everyMs).unref()
  }

  /** Throws if the file is invalid. */
  static async open(options: AuthorizersOptions): Promise<ConfiguredAuthorizers> {
    const text = readFileSync(options.file, 'utf8')
    return new ConfiguredAuthorizers(options, text, await chainOf(options, true))
  }

  /** The authorizers of the initial configuration, which watch objects. */
  get modes(): readonly Mode[] {
    return this.#modes
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    return this.#authorizer.authorize(attributes)
  }

  rulesFor(user: User, namespace: string): Rules {
    return this.#rules.rulesFor(user, namespace)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #readAgain(): Promise<void> {
    const { file, report, reloaded } = this.#options
    try {
      const text = readFileSync(file, 'utf8')
      if (text === this.#text) return
      this.#text = text
      const { modes, names } = await chainOf(this.#options, false)
      this.#modes = modes
      this.#authorizer = new UnionAuthorizer(modes, names)
      this.#rules = new UnionRuleResolver(modes)
      reloaded?.(true)
    } catch (error) {
      reloaded?.(false)
      report(`authorizers stay as they were: ${(error as Error).message}`)
    }
  }
}

interface Chain {
  readonly modes: readonly Mode[]
  /** Undefined in releases whose reasons have no names. */
  readonly names: readonly string[] | undefined
}

async function chainOf(
  { file, release, make }: AuthorizersOptions,
  isStart: boolean,
): Promise<Chain> {
  const choices = readAuthorizationConfiguration(file, release)
  const modes = await Promise.all(choices.map((choice) => make(choice, isStart)))
  const names = choices.map(({ name }) => name)
  return { modes, names: release.has(namesAuthorizers) ? names : undefined }
}
