/**
 * Every error a user or a program can meet, in one table: what the code means and what to do about it. The
 * table is closed: an error without an entry cannot be made, and the documentation lists the same entries.
 */
interface ErrorEntry {
  readonly meaning: string
  readonly remedy: string
}

/** Every code, with what it means and what to do; docs/errors.md is made of it. */
export const ERRORS = {
  OC_UNKNOWN_COMMAND: {
    meaning: 'There is no command of that name.',
    remedy: 'See `opencluster --help` for the commands.'
  },
  OC_UNKNOWN_OPTION: {
    meaning: 'The command has no option of that name.',
    remedy: 'See `opencluster COMMAND --help` for its options.'
  },
  OC_BAD_OPTION: {
    meaning: 'The value of an option is missing, malformed or out of range.',
    remedy: 'The message says what is allowed; `opencluster COMMAND --help` shows an example.'
  },
  OC_MISSING_OPTION: {
    meaning: 'The command cannot run without this option.',
    remedy: 'Give the option; the message shows how.'
  },
  OC_OPTION_CONFLICT: {
    meaning: 'Each option is right by itself, but not together with the others.',
    remedy: 'Change one of the options the message names.'
  },
  OC_UNEXPECTED_ARGUMENT: {
    meaning: 'The command takes no such argument.',
    remedy: 'Leave it out, or put `--` and its name before it if it was meant as an option.'
  },
  OC_UNKNOWN: {
    meaning:
      'A write was sent on to a node that died before it answered; it may have happened or not.',
    remedy: 'Read the key before writing again, unless the write can be repeated safely.'
  },
  OC_TIMEOUT: {
    meaning: 'Nobody who holds the key could be reached in time.',
    remedy: 'Try again; `opencluster status` says which nodes are missing.'
  },
  OC_REFUSED: {
    meaning: 'A node answered the command with an error; the message is what it said.',
    remedy: 'As the message says: most often the key holds another type, or an argument is wrong.'
  },
  OC_UNREACHABLE: {
    meaning: 'None of the addresses given to `connect` could be reached in time.',
    remedy:
      'Check the addresses, and that a node runs there: `opencluster status --node HOST:PORT`.'
  },
  OC_BUSY: {
    meaning: 'Too many commands of this client wait for their replies; this one was not sent.',
    remedy: 'Await earlier commands before giving new ones, or raise `maxPending`.'
  },
  OC_CLOSED: {
    meaning: 'The client was closed before the command was answered.',
    remedy: 'Close the client after the last command, or connect anew.'
  },
  OC_BAD_VALUE: {
    meaning: 'A value is not what it was asked for as: not a number, or not JSON.',
    remedy: 'Read it as text or bytes, or find out who wrote it.'
  },
  OC_LOCK_LOST: {
    meaning: 'The lock is not held any more: its time was up before it was renewed.',
    remedy: 'Stop what the lock was for, and acquire it again; a longer `ttlMs` makes it rarer.'
  },
  OC_BAD_REQUEST: {
    meaning: 'An HTTP request for a path that does not exist, or with something malformed in it.',
    remedy: 'The message says what is wrong; `/` shows what there is.'
  },
  OC_NOT_FOUND: {
    meaning: 'What an HTTP request asks about is not there.',
    remedy: 'Check the name; `/api/cluster` lists the nodes.'
  },
  OC_FORBIDDEN: {
    meaning: 'An HTTP request for which whoever sent it has no permission.',
    remedy: 'Send it from the machine the node runs on, from the dashboard or with its token.'
  },
  OC_TOO_LARGE: {
    meaning: 'An HTTP request is larger than allowed.',
    remedy: 'Send less at a time; the message says how much is allowed.'
  },
  OC_NOT_SERVING: {
    meaning: 'The node runs but cannot serve now: it joins, leaves, or is cut off.',
    remedy: 'Ask another node, or wait; the message says which it is.'
  },
  OC_TOO_MANY: {
    meaning: 'The node has as many HTTP listeners as it takes.',
    remedy: 'Close some, or ask another node.'
  },
  OC_INTERNAL: {
    meaning: 'A request met a defect of OpenCluster.',
    remedy: 'Report it with the line in the log of the node that has the same time.'
  }
} as const satisfies Record<string, ErrorEntry>

/** The codes of `OpenClusterError`. */
export type ErrorCode = keyof typeof ERRORS

/** Whatever goes wrong here has one of the codes of `ERRORS`. */
export class OpenClusterError extends Error {
  override readonly name = 'OpenClusterError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
