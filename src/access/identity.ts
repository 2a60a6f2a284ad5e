/**
 * The credentials of this server as a client: a certificate, a token, or none. Files are read again
 * periodically, because they are renewed in place. If a file cannot be read, its previous contents
 * stay in use.
 */

export interface Identity {
  /** PEM. */
  readonly cert?: string
  readonly key?: string
  /** The complete Authorization header. */
  readonly authorization?: string
}

/**
 * kube-apiserver uses the same interval. It suffices for tokens of ten minutes that are renewed two
 * minutes before they expire.
 */
const readAgainMs = 50_000

/** Returns the same object until the identity changes. Throws if the first read fails. */
export function identityFrom(
  read: () => Identity,
  monotonicMs: () => number = () => performance.now(),
): () => Identity {
  let known = read()
  let readAtMs = monotonicMs()
  return () => {
    if (monotonicMs() - readAtMs < readAgainMs) return known
    readAtMs = monotonicMs()
    try {
      const next = read()
      if (isSame(next, known)) return known
      requirePair(next, known)
      known = next
    } catch {
      // The next check comes soon.
    }
    return known
  }
}

const isSame = (a: Identity, b: Identity): boolean =>
  a.cert === b.cert && a.key === b.key && a.authorization === b.authorization

/** The files are written one after the other, and a certificate without its key is useless. */
function requirePair({ cert, key }: Identity, known: Identity): void {
  if (cert === undefined || (cert === known.cert && key === known.key)) return
  const { createSecureContext } = process.getBuiltinModule('node:tls')
  createSecureContext({ cert, ...(key !== undefined && { key }) })
}
