/** A cluster of three nodes in this process, and a client of one of them that keeps the bytes of each reply. */
import { latin1String } from '../../src/core/bytes.js'
import { MiniClient, MiniCluster, type MiniNode } from '../support/mini-cluster.js'

export class RawClient extends MiniClient {
  text = ''
  readonly #mini: MiniCluster

  constructor(cluster: MiniCluster, at: MiniNode, session: number) {
    super(cluster, at, session)
    this.#mini = cluster
    at.clients.set(session, this)
  }

  override output(bytes: Uint8Array): void {
    this.text += latin1String(bytes, 0, bytes.length)
    super.output(bytes)
  }

  /** The bytes of the reply, one character each. */
  exchange(args: readonly string[]): string {
    this.text = ''
    const before = this.replies.length
    this.send(...args)
    this.#mini.runUntil(() => this.replies.length > before || this.hungUp, 20_000, args.join(' '))
    return this.text
  }
}

export class ClusterDoor {
  readonly cluster = new MiniCluster()
  readonly nodes: MiniNode[]
  #nextSession = 100_000

  constructor(...names: string[]) {
    this.nodes = this.cluster.startAll(...names)
  }

  client(at: MiniNode = this.nodes[0]): RawClient {
    return new RawClient(this.cluster, at, this.#nextSession++)
  }
}
