/**
 * What Node and the C library take only at their own start, so that memory is given back soon: a small nursery for young
 * objects, though not so small at first that it is searched every twenty requests, and buffers returned to the system when
 * they are freed, which the pieces of 32 KiB that compilers work in are too. Each is a mapping of its own, of which a process
 * may have so many, and the engine needs some: beyond the limit they are as others. Whoever starts the server with these
 * spares it the beginning once more, a tenth of a start. A flag for which Node refuses the compiled code of its own modules,
 * as it does for most, costs as much and has no place here.
 */
export const memoryFlags = ['--min-semi-space-size=4', '--max-semi-space-size=8']

/** The environment of a server that begins with the flags; what somebody set by hand stays. */
export const withMemorySettings = (environment) => ({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32000',
  MALLOC_MMAP_MAX_: '16384',
  ...environment,
  BINNACLE_BEGUN: '1',
})
