/**
 * The webhook plugins while no webhook is configured. The code that calls webhooks is loaded with
 * the first one.
 */
import type { AdmissionPlugin } from '#admission/admission.ts'
import { loadLater } from '#base/load-later.ts'
import type { KubeconfigUsers } from '#access/kubeconfig.ts'
import type { Loopback } from './address.ts'
import type { DispatchParts } from './dispatch.ts'
import { HookSource } from './hook-source.ts'

const loadClient = loadLater<typeof import('./hook-client.ts')>(import.meta.url, './hook-client')
const loadMutating = loadLater<typeof import('./mutating.ts')>(import.meta.url, './mutating')
const loadValidating = loadLater<typeof import('./validating.ts')>(import.meta.url, './validating')

export interface PartsOfServer extends Omit<DispatchParts, 'client'> {
  readonly loopback: Loopback
}

export function mutatingOnceConfigured(
  parts: PartsOfServer,
  users: KubeconfigUsers,
): AdmissionPlugin {
  const source = new HookSource('mutatingwebhookconfigurations')
  let plugin: AdmissionPlugin | undefined
  return {
    name: 'MutatingAdmissionWebhook',
    asksOthers: () => source.hooks.length > 0,
    start: (reader) => source.follow(reader),
    mutate(request, reader) {
      if (source.hooks.length === 0) return
      plugin ??= loadMutating().mutatingWebhooks(withClient(parts, users), source)
      return plugin.mutate?.(request, reader)
    },
  }
}

export function validatingOnceConfigured(
  parts: PartsOfServer,
  users: KubeconfigUsers,
): AdmissionPlugin {
  const source = new HookSource('validatingwebhookconfigurations')
  let plugin: AdmissionPlugin | undefined
  return {
    name: 'ValidatingAdmissionWebhook',
    asksOthers: () => source.hooks.length > 0,
    start: (reader) => source.follow(reader),
    validate(request, reader) {
      if (source.hooks.length === 0) return
      plugin ??= loadValidating().validatingWebhooks(withClient(parts, users), source)
      return plugin.validate?.(request, reader)
    },
  }
}

const withClient = (parts: PartsOfServer, users: KubeconfigUsers): DispatchParts => ({
  ...parts,
  client: new (loadClient().HookClient)(users, parts.loopback),
})
