/** Why the server cannot listen, with the flag that fixes it. */
import { CannotStart } from './cannot-start.ts'
import type { Settings } from '#settings/flags.ts'

type Wanted = Pick<Settings, 'securePort' | 'bindAddress'>

const reasons: Readonly<Record<string, (wanted: Wanted) => string>> = {
  EADDRINUSE: ({ securePort, bindAddress }) =>
    `--secure-port: another program listens on port ${securePort} of ${bindAddress}; stop it, or choose another port`,
  EADDRNOTAVAIL: ({ bindAddress }) =>
    `--bind-address: this machine does not have the address ${bindAddress}`,
  EACCES: ({ securePort }) =>
    `--secure-port: this user may not listen on port ${securePort}; choose one above 1023`,
}

/** Converts an error of the operating system into CannotStart. */
export function cannotListen(error: NodeJS.ErrnoException, wanted: Wanted): never {
  const reason = reasons[error.code ?? '']
  if (reason === undefined) throw error
  throw new CannotStart(`${reason(wanted)} (${error.code})`, { cause: error })
}
