/**
 * Writes records to standard output faster than they are read, and reports on standard error what
 * is lost.
 */
import type { AuditEvent } from './event.ts'
import { LogSink } from './log-sink.ts'

const records = 300
// As a server does that says that it is ready: from then on a full pipe refuses what comes.
process.stdout.write('ready\n')
const sink = new LogSink({
  path: '-',
  format: ({ auditID }) => auditID.padEnd(999, '.'),
  sizeBytesMax: Number.MAX_SAFE_INTEGER,
  backupsMax: 0,
  ageMsMax: 0,
  now: Date.now,
  lost: (_plugin, count, why) => process.stderr.write(`${count} lost: ${why}\n`),
})
for (let i = 0; i < records; i++) {
  void sink.write([{ auditID: String(i) } as AuditEvent])
  await new Promise(setImmediate)
}
await sink.close()
