/**
 * Where commands run: on this machine, or on another one through ssh. Both take the same words, so that whoever asks
 * a scheduler does not know where it is. ssh gives the words to a shell on the other side, hence the quoting.
 */
import {
  describeExit,
  runCommand,
  type CommandOptions,
  type CommandResult
} from './external-command.js'

export interface Place {
  /** For messages: `here` or `user@host`. */
  readonly label: string
  /** Runs it to its end, whatever its exit code. */
  run(argv: readonly string[], options?: CommandOptions): Promise<CommandResult>
}

export interface SshOptions {
  /** `user@host`, `host`, or a name of ~/.ssh/config. */
  readonly target: string
  readonly port?: number | undefined
  readonly identityFile?: string | undefined
  /** Further options as `ssh -o` takes them, such as `UserKnownHostsFile=FILE`. */
  readonly options?: readonly string[] | undefined
  /** A private folder for the sockets of connections that are used again; none: a connection a command. */
  readonly controlFolder?: string | undefined
}

/** ssh's own exit code for a connection that failed; the program there can hardly have used it. */
const SSH_FAILED = 255
const CONNECT_SECONDS_MAX = 10
/** A connection that nobody uses for so long ends by itself. */
const PERSIST_SECONDS = 30
/** The socket's name has 40 letters, for a moment 17 more, and a path at most about 104. */
const CONTROL_FOLDER_LENGTH_MAX = 45

export function createLocalPlace(env: Readonly<Record<string, string>> = {}): Place {
  return {
    label: 'here',
    run: (argv, options) => runCommand(argv, { ...options, env: { ...env, ...options?.env } })
  }
}

export function createSshPlace(ssh: SshOptions, env: Readonly<Record<string, string>> = {}): Place {
  return {
    label: ssh.target,
    run: async (argv, options) => {
      const command = buildSshCommand(ssh, argv, { ...env, ...options?.env })
      const result = await runCommand(command, { ...options, env: {} })
      if (result.code === SSH_FAILED) throw describeExit(['ssh', ssh.target], result)
      return result
    }
  }
}

export function buildSshCommand(
  ssh: SshOptions,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {}
): string[] {
  const { target, port, identityFile, options = [] } = ssh
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const words = assignments.length > 0 ? ['env', ...assignments, ...argv] : argv
  return [
    'ssh',
    // Nobody is there to answer a question, and a dead connection must end.
    ...['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${CONNECT_SECONDS_MAX}`],
    ...['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'],
    ...options.flatMap((option) => ['-o', option]),
    // After the user's own: what is given first counts.
    ...controlOptions(ssh).flatMap((option) => ['-o', option]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(identityFile === undefined ? [] : ['-i', identityFile]),
    ...['--', target, words.map(quoteWord).join(' ')]
  ]
}

/** A pass asks half a dozen questions; shaking hands for each one costs more than all of them. */
function controlOptions({ controlFolder }: SshOptions): string[] {
  if (controlFolder === undefined || controlFolder.length > CONTROL_FOLDER_LENGTH_MAX) return []
  const path = `ControlPath=${controlFolder}/%C`
  return ['ControlMaster=auto', path, `ControlPersist=${PERSIST_SECONDS}`]
}

/** For a POSIX shell: nothing inside single quotes means anything but the single quote itself. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
