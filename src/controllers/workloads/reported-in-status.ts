/**
 * A failure that the status of a workload shows already. The workload is retried, and the log stays
 * short.
 */
import type { ControllerParts } from '#controllers/controller.ts'

export class ReportedInStatus extends Error {}

export const exceptReported =
  (report: ControllerParts['report']): ControllerParts['report'] =>
  (message, error) => {
    if (!(error instanceof ReportedInStatus)) report(message, error)
  }
