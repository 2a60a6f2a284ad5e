/**
 * A server of each requested release, without controllers and without the plugin that requires
 * accounts of pods.
 */
import { type RunningServer, startServer } from './running-server.ts'

export class ReleaseServers {
  readonly #started = new Map<number, Promise<RunningServer>>()

  readonly of = (release: number): Promise<RunningServer> => {
    const made =
      this.#started.get(release) ??
      startServer([
        `--emulated-version=1.${release}`,
        '--controllers=-*',
        '--disable-admission-plugins=ServiceAccount',
      ])
    this.#started.set(release, made)
    return made
  }

  async stop(): Promise<void> {
    for (const server of this.#started.values()) await (await server).stop()
  }
}
