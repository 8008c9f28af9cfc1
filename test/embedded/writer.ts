import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { spokenLines } from './spoken-lines.ts'

/** The name under which a step is asked for, by whichever process asks. */
const nameOf = (step: number) => commandId(`01900000-0000-7000-8000-${step.toString(16).padStart(12, '0')}`)

const [dataDir = ''] = process.argv.slice(2)

/** Records turns from one on, each until this process is killed, and says which ones were acknowledged. */
const record = async (first: number): Promise<never> => {
  const { handoffs, history } = await createBatonpass({ dataDir })
  const opening = { originalTask: 'Survive', externalKey: 'the killed writer', commandId: nameOf(0xaaaa_0000) }
  const { conversation } = unwrap(await handoffs.openConversation(opening))
  const starting = { conversationId: conversation.id, agentName: 'claude-code', backend: 'scripted' }
  const there = await history.activeSession(conversation.id)
  const session = there ?? unwrap(await handoffs.startSession(starting)).session
  const taken = unwrap(await handoffs.takeOverSession({ session }))
  let working = taken
  console.log('opened')
  if (taken.session.progress.turns >= first) console.log('kept without a word')
  for (let number = first; ; number += 1) {
    const toolCalls = [{ callId: `call-${number}`, toolName: 'read_file' }]
    const messages = [
      { role: 'user', text: `Ask ${number}` },
      { role: 'assistant', text: `Answer ${number}`, toolCalls },
    ] as const
    const recorded = unwrap(await handoffs.recordTurn({ ...working, messages, commandId: nameOf(number) }))
    // A pipe is written before `log` returns, so nothing acknowledged is lost on the way to the test.
    console.log(`turn ${recorded.turns[0]?.number}`)
    // A turn that the killed one had kept already is answered as it was then, with the killed one's holder token.
    working = { session: recorded.session, holder: taken.holder }
  }
}

for await (const line of spokenLines()) await record(Number(line))
