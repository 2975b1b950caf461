/** What INFO counts. */
export class DoorStatistics {
  connections = 0
  commands = 0

  reset(): void {
    this.connections = 0
    this.commands = 0
  }
}
