import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { ok } from '../../domain/kernel/result.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { ToolsOffered } from '../../ports/agent/run-tools.ts'
import type { Tool } from './tool.ts'

const LARGEST = 200_000

const input = z.object({
  to: z.string().trim().min(1).max(300).describe('The name of the agent that does it.'),
  task: z
    .string()
    .min(1)
    .max(LARGEST)
    .describe('The piece of work, complete in itself: that agent does not see what you see.'),
  reason: z.string().max(2_000).optional().describe('Why, in a sentence.'),
  document: z.string().max(LARGEST).optional().describe('What that agent needs to know beside its task, in markdown.'),
})

/** The tool with which an agent of a run lets another one do a piece of its work at the same time. */
export const delegateTool = ({ to, ask }: NonNullable<ToolsOffered['delegate']>): Tool<typeof input> => ({
  name: 'delegate',
  title: 'Delegate a piece of the work',
  description: [
    `Lets another agent do a piece of your work at the same time as you, in a thread of its own: ${to.join(', ')}.`,
    'You keep the work. Call it once for each piece, then continue, or end your turn: you are told the outcomes of all threads when you have come to rest.',
  ].join(' '),
  input,
  isReadOnly: false,
  call: async ({ to: target, task, reason, document }) => {
    const asked = await ask({ to: target, task, ...defined({ reason, document }) })
    if (!asked.ok) return asked
    return ok({
      text: `${inQuotes(asked.value.to)} begins with it now. End your turn when you need the outcome: you are told then, and need not ask.`,
    })
  },
})
