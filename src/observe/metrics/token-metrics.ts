/** Counts of the uses of service account tokens, by the kind of the token. */
import { change } from '#api/releases/change.ts'
import { counter } from './metric.ts'
import type { Registry } from './registry.ts'

const metersTokens = change('metrics count uses of service account tokens', { since: 19 })
const metersSecrets = change('metrics count uses of legacy tokens by the origin of their Secret', {
  since: 29,
})
const tokensAreBeta = change('metrics of all service account tokens are BETA', { since: 37 })

export function tokenMetrics(registry: Registry) {
  const all = { stability: 'ALPHA', beta: tokensAreBeta, only: metersTokens } as const
  const bySecret = { stability: 'ALPHA', only: metersSecrets } as const
  const register = (name: string, help: string, life: typeof all | typeof bySecret) =>
    registry.register(counter(`serviceaccount_${name}_total`), help, life).labels()
  return {
    legacy: register('legacy_tokens', 'Uses of legacy tokens.', all),
    stale: register('stale_tokens', 'Uses of projected tokens that clients should renew.', all),
    valid: register('valid_tokens', 'Uses of projected tokens in their first hour.', all),
    manual: register('legacy_manual_token_uses', 'Uses of tokens in Secrets of clients.', bySecret),
    generated: register(
      'legacy_auto_token_uses',
      'Uses of tokens in Secrets that the controller created.',
      bySecret,
    ),
    invalidated: register(
      'invalid_legacy_auto_token_uses',
      'Uses of tokens whose Secret is labelled as invalid.',
      bySecret,
    ),
  }
}
