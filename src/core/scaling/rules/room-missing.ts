/** What waits does not fit into what is free or booting: the original counted a free slot as none. */
import type { ClusterRule } from '../rule.js'
import { countOf } from '../text.js'

export const roomMissing: ClusterRule = {
  name: 'room-missing',
  phase: 'add',
  judge({ demand, packing, slotsFree, booting }) {
    if (demand.helpable.length === 0) {
      return { answer: 'not-applicable', facts: {}, sentence: 'no job waits' }
    }
    const facts = {
      slotsFree,
      booting: booting.length,
      placed: packing.placed,
      unplaced: packing.unplaced,
      needed: packing.needed
    }
    if (packing.needed === 0) {
      const where = booting.length === 0 ? 'free slots' : 'free slots and booting hosts'
      const sentence = `the ${where} hold all ${countOf(packing.placed, 'task')}: the scheduler will start them`
      return { answer: 'deny', facts, sentence }
    }
    const sentence = `${countOf(packing.unplaced, 'task')} ${packing.unplaced === 1 ? 'finds' : 'find'} no free slot: that takes ${countOf(packing.needed, 'host')}`
    return { answer: 'allow', facts, sentence }
  }
}
