/** Work of a running server that no request asks for: compaction, certificate renewal, authority files that change. */
import type { Access } from '#access/make-access.ts'
import type { Listener } from '#http/listener.ts'
import { ensureCertificates, givenFiles } from './certificates.ts'
import { compactRegularly } from './compaction.ts'
import type { Foundation } from './foundation.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { followAuthorities, shownKeys } from './make-http.ts'
import { renewDaily } from './renewal.ts'

export interface Upkeep {
  stop(): void
}

export function startUpkeep(
  { settings, storage, certificates, loopback, log, report, clock }: Foundation,
  listener: Listener,
  access: Access,
): Upkeep {
  const compaction = compactRegularly(
    storage,
    settings.etcdCompactionIntervalMs,
    (message, error) => log.warn(message, { error }),
  )
  const renewal = renewDaily(
    certificates,
    () => ensureCertificates(settings, clock),
    (fresh) => {
      listener.renew(shownKeys(fresh, loopback))
      writeKubeconfig(settings, fresh)
    },
    (error) => report('certificates could not be renewed', error),
    clock,
    givenFiles(settings),
  )
  const stopAuthorities = followAuthorities(access, listener)
  return {
    stop() {
      compaction.stop()
      renewal.stop()
      stopAuthorities()
    },
  }
}
