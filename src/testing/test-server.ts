/** A server for tests in other languages: several clusters on one port, and the control API. */
import { systemRandom } from '#base/random.ts'
import { ClusterHost, type ClusterOptions } from './cluster-host.ts'
import { controlApi } from './control/control-api.ts'
import { controlPrefix } from './control/openapi.ts'

export interface TestServer {
  /** The details for clients, as the server prints them. */
  readonly address: {
    /** The first cluster. */
    readonly url: string
    readonly token: string
    readonly kubeconfig: string
    /** The URL and the token of the control API. */
    readonly control: string
    readonly controlToken: string
    /** The CA certificate that clients trust, as PEM. */
    readonly certificateAuthority: string
    readonly version: string
  }
  close(): Promise<void>
}

export async function startTestServer(
  options: ClusterOptions,
  version: string,
): Promise<TestServer> {
  const controlToken = systemRandom.bytes(24).toString('hex')
  const host: ClusterHost = new ClusterHost(options, (next) =>
    controlApi(host, controlToken, version)(next),
  )
  await host.start()
  const first = host.first()
  await first.open()
  return {
    address: {
      url: first.url,
      token: first.token,
      kubeconfig: first.kubeconfig,
      control: `${first.url}${controlPrefix}`,
      controlToken,
      certificateAuthority: host.authority,
      version,
    },
    close: () => first.close(),
  }
}
