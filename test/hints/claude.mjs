// The part of `claude` that these tests need: it answers each line of its input once, as `--output-format stream-json`
// does, and writes what its memory file says to CLAUDE_SAW, which is all that a person could approve in vain.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { CLAUDE_SAW } = process.env
const session_id = `claude-${process.pid}`
const model = 'claude-haiku-4-5'
const say = (message) => process.stdout.write(`${JSON.stringify({ session_id, ...message })}\n`)
const usage = { input_tokens: 100, output_tokens: 10 }

if (CLAUDE_SAW !== undefined)
  appendFileSync(CLAUDE_SAW, existsSync('CLAUDE.md') ? readFileSync('CLAUDE.md', 'utf8') : '-')
say({ type: 'system', subtype: 'init', model })
let answers = 0
for await (const _ of createInterface({ input: process.stdin })) {
  answers += 1
  const content = [{ type: 'text', text: `Answer ${answers}.` }]
  say({ type: 'assistant', message: { id: `msg_${process.pid}_${answers}`, model, content, usage } })
  say({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: `Answer ${answers}.`,
    usage,
    total_cost_usd: 0.01,
    num_turns: 1,
  })
}
