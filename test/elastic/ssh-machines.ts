/** Real sshd processes on the machines of a network: one key for all, a folder /mnt of their own, no files of the system. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Network, run, until } from './namespaces.js'

export class SshMachines {
  readonly identityFile: string
  /** For `ssh -o`. */
  readonly options: readonly string[]
  readonly #network: Network
  readonly #folder: string

  constructor(network: Network, folder: string) {
    this.#network = network
    this.#folder = join(folder, 'ssh')
    mkdirSync(this.#folder, { mode: 0o700 })
    this.identityFile = join(this.#folder, 'user')
    for (const name of ['host', 'user']) {
      run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(this.#folder, name)])
    }
    this.options = [
      'StrictHostKeyChecking=accept-new',
      `UserKnownHostsFile=${join(this.#folder, 'known')}`,
      'LogLevel=ERROR'
    ]
    // sshd refuses to start without it.
    if (!existsSync('/run/sshd')) mkdirSync('/run/sshd', { mode: 0o755 })
    chmodSync('/run/sshd', 0o755)
  }

  async start(machine: string, address: string): Promise<void> {
    const config = join(this.#folder, `${machine}.conf`)
    const lines = [
      `ListenAddress ${address}:22`,
      `HostKey ${this.#folder}/host`,
      `AuthorizedKeysFile ${this.#folder}/user.pub`,
      `PidFile ${this.#folder}/${machine}.pid`,
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'StrictModes no',
      'UsePAM no',
      'MaxStartups 100',
      // Whatever root's own shell does when it starts is no matter of the test.
      `SetEnv HOME=${this.#folder}`
    ]
    writeFileSync(config, `${lines.join('\n')}\n`)
    // The mounts of `ip netns exec` are its own, so this /mnt is seen by this machine alone.
    const script = `mount -t tmpfs tmpfs /mnt && exec /usr/sbin/sshd -f ${config}`
    this.#network.on(machine, ['sh', '-c', script])
    await until(`sshd on ${machine}`, () => existsSync(`${this.#folder}/${machine}.pid`))
  }

  /** Runs a command there. */
  call(address: string, command: string): string {
    const options = this.options.flatMap((option) => ['-o', option])
    const ssh = ['ssh', '-o', 'BatchMode=yes', ...options, '-i', this.identityFile]
    return this.#network.on(this.#network.master, [...ssh, `root@${address}`, command])
  }
}
