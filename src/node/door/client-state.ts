/** What a client has said about itself and how it wants to be treated. */

/** Whether it wants replies: all, none, none to the next command only. */
export type ReplyMode = 'on' | 'off' | 'skip'

export class ClientState {
  name = ''
  libraryName = ''
  libraryVersion = ''
  replies: ReplyMode = 'on'
  noEvict = false
  noTouch = false
  /** The last command that was not executed just like that. */
  lastCommand = 'NULL'
  lastMs = 0

  /** As it was when it connected; what it is called by others in lists stays. */
  reset(): void {
    this.name = ''
    this.replies = 'on'
    this.noEvict = false
    this.noTouch = false
  }
}
