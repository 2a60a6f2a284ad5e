/** The error for a request to the control API that cannot be processed, with its HTTP status. */
export class ControlError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
