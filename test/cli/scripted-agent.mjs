// A small agent: reads its prompt from standard input and writes messages as `claude -p --output-format stream-json`
// does. SCRIPT says what it does, a word at a time; it writes its process id to PID_FILE when there is one.
//   turn:N   an answer whose request had N tokens, with a tool call and its result
//   say:N    an answer whose request had N tokens, and nothing else
//   wait     stays until it is ended
//   deaf     as wait, and does not listen to TERM
//   noise    a line that is no JSON
//   fail:N   complains, and ends with exit code N
//   to:NAME  asks that this agent takes over
//   secret   says what it finds in BATONPASS_DATABASE_URL
// SCRIPT_LATER is the script of a prompt that goes on with earlier work.
import { appendFileSync, readFileSync } from 'node:fs'

const prompt = readFileSync(0, 'utf8')
const isFirst = !prompt.includes('Continue')
const script = (isFirst ? process.env.SCRIPT : (process.env.SCRIPT_LATER ?? process.env.SCRIPT)) ?? 'say:100'
const { PID_FILE, PROMPT_FILE } = process.env
if (script.includes('deaf')) process.on('SIGTERM', () => {})
if (PID_FILE !== undefined) appendFileSync(PID_FILE, `${process.pid}\n`)
if (PROMPT_FILE !== undefined) appendFileSync(PROMPT_FILE, `${JSON.stringify(prompt)}\n`)

const session_id = `agent-${process.pid}`
const model = 'claude-haiku-4-5'
const write = (message) => process.stdout.write(`${JSON.stringify({ session_id, ...message })}\n`)
const answer = (number, tokens, content) =>
  write({
    type: 'assistant',
    message: { id: `msg_${process.pid}_${number}`, model, content, usage: { input_tokens: tokens, output_tokens: 10 } },
  })
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

write({ type: 'system', subtype: 'init', model })
let number = 0
for (const word of script.split(' ')) {
  const [what, figure] = word.split(':')
  number += 1
  const text = { type: 'text', text: `Answer ${number}.` }
  if (what === 'say') answer(number, Number(figure), [text])
  if (what === 'turn') {
    const id = `toolu_${process.pid}_${number}`
    answer(number, Number(figure), [text, { type: 'tool_use', id, name: 'edit_file', input: {} }])
    write({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] } })
    await pause(30)
  }
  if (what === 'to')
    write({ type: 'batonpass_handoff', to: figure, reason: 'My part is done.', document: 'All of it.' })
  if (what === 'noise') process.stdout.write('not a record\n')
  if (what === 'secret')
    answer(number, 100, [{ type: 'text', text: `BATONPASS_DATABASE_URL is ${process.env.BATONPASS_DATABASE_URL}` }])
  if (what === 'wait' || what === 'deaf') await pause(60_000)
  if (what === 'fail') {
    process.stderr.write('The key is wrong.\n')
    process.exit(Number(figure))
  }
}
