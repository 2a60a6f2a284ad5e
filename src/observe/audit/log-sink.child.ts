/**
 * Writes audit events to standard output faster than they are read, and reports lost ones on
 * standard error.
 */
import type { AuditEvent } from './event.ts'
import { LogSink } from './log-sink.ts'

const records = 300
// A server reports that it is ready in the same way: from then on a full pipe rejects output.
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
