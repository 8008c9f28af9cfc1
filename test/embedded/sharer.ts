import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { mustHold } from '../../src/services/commands/answers.ts'
import { spokenLines } from './spoken-lines.ts'

const [dataDir = '', name = ''] = process.argv.slice(2)

/** The id under which a step is asked for, known to whoever judges. */
const idOf = (step: number) => {
  const [number, part] = [Number(name).toString(16).padStart(4, '0'), step.toString(16).padStart(12, '0')]
  return commandId(`01900000-0000-7000-${`8${number.slice(1)}`}-${part}`)
}

/**
 * Opens the folder beside others and records, one step after the other, what it was told to: each step is asked for
 * under an id of its own, and said aloud when it was acknowledged. It never asks twice: what is lost is lost, and a
 * failure is said.
 */
const lines = spokenLines()
await lines.next()
let isToldToStop = false
const untilStopped = async (): Promise<void> => {
  const batonpass = await createBatonpass({ dataDir })
  const opening = { originalTask: `Share ${name}`, externalKey: `sharer-${name}`, commandId: idOf(0) }
  const { conversation } = unwrap(await batonpass.handoffs.openConversation(opening))
  const starting = {
    conversationId: conversation.id,
    agentName: 'claude-code',
    backend: 'scripted',
    commandId: idOf(1),
  }
  const { session, holder } = mustHold(unwrap(await batonpass.handoffs.startSession(starting)))
  let working = { session, holder }
  console.log(`opened ${conversation.id}`)
  for (let step = 2; !isToldToStop; step += 1) {
    const messages = [{ role: 'assistant', text: `Step ${step} of ${name}` }] as const
    const begun = performance.now()
    const recorded = unwrap(await batonpass.handoffs.recordTurn({ ...working, messages, commandId: idOf(step) }))
    console.log(`step ${step} ${Math.round(performance.now() - begun)}`)
    working = { session: recorded.session, holder }
  }
  await batonpass.close()
}
void (async () => {
  for await (const line of lines) isToldToStop ||= line === 'stop'
})()
try {
  await untilStopped()
  console.log('closed')
} catch (error) {
  console.log(`failed ${error instanceof StoreFailure ? error.code : ''} ${String(error)}`)
}
process.exit(0)
