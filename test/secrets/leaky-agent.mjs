// An agent that prints every secret of a file (a JSON list), in every place that an agent has: its words, the input of a
// tool, the result of a tool, and an error if its second argument is "fail".
import { readFileSync } from 'node:fs'

readFileSync(0, 'utf8')
const [, , file, script] = process.argv
const keys = JSON.parse(readFileSync(file, 'utf8'))
const all = keys.join('\n')
const session_id = `leaky-${process.pid}`
const write = (message) => process.stdout.write(`${JSON.stringify({ session_id, ...message })}\n`)
const answer = (number, content) =>
  write({
    type: 'assistant',
    message: {
      id: `msg_${process.pid}_${number}`,
      model: 'claude-haiku-4-5',
      content,
      usage: { input_tokens: 100 * number, output_tokens: 10 },
    },
  })
write({ type: 'system', subtype: 'init', model: 'claude-haiku-4-5' })
answer(1, [
  { type: 'text', text: `I found these:\n${all}` },
  ...keys.map((key, index) => ({
    type: 'tool_use',
    id: `toolu_${process.pid}_${index}`,
    name: 'Bash',
    input: { command: `echo '${key}'` },
  })),
])
write({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: `toolu_${process.pid}_0`, content: `printed:\n${all}` }] },
})
if (script === 'fail') {
  process.stderr.write(`It broke: ${all}\n`)
  process.exit(3)
}
answer(2, [{ type: 'text', text: `Done with ${all}` }])
write({ type: 'result', subtype: 'success', is_error: false, result: `Done with ${all}` })
