// An agent that writes whatever could mislead a person who looks at a terminal, where records have room for text.
import { readFileSync } from 'node:fs'

readFileSync(0, 'utf8')
const nasty = process.env.NASTY ?? ''
const session_id = 'agent'
const write = (message) => process.stdout.write(`${JSON.stringify({ session_id, ...message })}\n`)
const model = `claude-${nasty}`
const id = `toolu_${nasty}`
const usage = { input_tokens: 100, output_tokens: 10 }
const tool = { type: 'tool_use', id, name: `edit ${nasty}`, input: { nasty } }

write({ type: 'system', subtype: 'init', model })
write({ type: 'assistant', message: { id: 'msg_1', model, content: [{ type: 'text', text: nasty }, tool], usage } })
write({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: nasty }] } })
process.stdout.write(`${nasty}\n`)
process.stderr.write(`${nasty}\n`)
process.exitCode = 3
