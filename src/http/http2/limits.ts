/**
 * Every limit on what one client can make this folder hold, and how long it may take. README.md has
 * them as a table.
 */

/** The default for concurrent requests per connection, as in kube-apiserver. */
export const streamsMaxUsual = 250
/** The receive window of a connection: bytes that a client may send before they are read. */
export const connectionWindowBytes = 1024 * 1024
/** The receive window of a stream. */
export const streamWindowBytes = 256 * 1024
/** Response bytes that may wait for the client; above this limit `write` returns false. */
export const queuedBytesMax = 64 * 1024
/**
 * Control frames that may wait for a client that does not read; beyond this the connection is
 * closed.
 */
export const waitingBytesMax = 1024 * 1024

/** Header bytes per request: enough for a large token, too few to do harm. */
export const headerBytesMax = 64 * 1024
/** Frames per header block: more than its bytes need. */
export const blockFramesMax = 16
/** The size limit of the dynamic table: HTTP/2's default. */
export const headerTableBytesMax = 4096

/** Refused streams that are remembered, in addition to all that can be open. */
export const refusedRememberedMax = 200
/** Cheap frames that cost the server work: how many at once, and how many a second for long. */
export const cheapFramesMax = 1000
export const cheapFramesPerSecond = 50

/** How long a client may take to send its preface and settings. */
export const prefaceMsMax = 30_000
/**
 * A connection without a request is closed after this time, or at most twice this time. Go's
 * clients keep idle connections as long.
 */
export const idleMsMin = 90_000
/** How long a client may take to read the last bytes and close its side. */
export const endingMsMax = 30_000
/** How long a client may send an unread body after the response. */
export const unreadMsMax = 1000
