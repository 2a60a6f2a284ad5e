/**
 * `binnacle health` checks whether the server of these flags on this machine is ready. It serves
 * health checks of containers without other programs. It sends no credentials.
 */
import { caller } from '#access/https-call.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { listeningUrl } from '#server/kubeconfig.ts'
import type { GivenCommand } from './command.ts'

const timeoutMs = 5000
const answerBytesMax = 64 * 1024

export async function checkHealth({ flags }: GivenCommand): Promise<void> {
  const url = new URL('/readyz', listeningUrl(flags))
  // The certificate is not verified, because the request contains no secrets.
  const call = caller({ insecure: true })
  let answer: Awaited<ReturnType<typeof call>>
  try {
    answer = await call({ method: 'GET', url, timeoutMs, answerBytesMax })
  } catch (error) {
    throw new CannotStart(`no server answers at ${url.origin}: ${(error as Error).message}`)
  }
  if (answer.status !== 200)
    throw new CannotStart(`the server at ${url.origin} is not ready: ${answer.body.trim()}`)
  process.stdout.write('ok\n')
}
