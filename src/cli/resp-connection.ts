/** How the commands that talk to a cluster find a node of it. */
import { judgeAddress } from '../config/address.js'
import { text, type Option } from '../config/option.js'

export { RespConnection, withConnection } from '../runtime/resp-connection.js'

export function nodeOption(): Option<string> {
  return text('a node of the cluster', '127.0.0.1:13600', {
    placeholder: 'HOST:PORT',
    judge: judgeAddress
  })
}
