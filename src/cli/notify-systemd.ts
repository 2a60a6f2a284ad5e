/**
 * Reports to systemd that the server is ready or stops, for units with Type=notify and
 * NotifyAccess=all. Node cannot write to the socket of systemd, so the program systemd-notify does.
 */
import { execFile } from 'node:child_process'

export function notifySystemd(
  state: 'ready' | 'stopping',
  failed: (message: string) => void,
  environment: NodeJS.ProcessEnv = process.env,
): void {
  if (!environment['NOTIFY_SOCKET']) return
  const args = [`--pid=${process.pid}`, `--${state}`]
  execFile('systemd-notify', args, (error) => {
    if (error !== null)
      failed(`systemd was not notified: ${error.message.trim()}; use Type=exec in the unit`)
  })
}
