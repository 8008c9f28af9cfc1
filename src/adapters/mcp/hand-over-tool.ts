import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { ok } from '../../domain/kernel/result.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { ToolsOffered } from '../../ports/agent/run-tools.ts'
import type { Tool } from './tool.ts'

const LARGEST = 200_000

const input = z.object({
  to: z.string().trim().min(1).max(300).describe('The name of the agent that takes over.'),
  reason: z.string().max(2_000).optional().describe('Why, in a sentence.'),
  document: z
    .string()
    .max(LARGEST)
    .optional()
    .describe(
      'Everything that agent needs, in markdown: goal, done, state, next steps, decisions, files. You are asked for it if you leave it out.',
    ),
})

/** The tool with which an agent of a run hands its work to another agent. */
export const handOverTool = ({ to, ask }: NonNullable<ToolsOffered['handOver']>): Tool<typeof input> => ({
  name: 'handoff',
  title: 'Hand the work over',
  description: [
    `Hands this work to another agent, who continues it in your place: ${to.join(', ') || 'name the agent'}.`,
    'Use it when the next part of the work is for that agent. Finish what you are in the middle of first: your own part ends with this call.',
  ].join(' '),
  input,
  isReadOnly: false,
  call: async ({ to: target, reason, document }) => {
    const asked = await ask(defined({ to: target, reason, document }))
    if (!asked.ok) return asked
    return ok({
      text: `The work goes to ${inQuotes(asked.value.to)}. Your part is done: say nothing more and use no tool.`,
    })
  },
})
