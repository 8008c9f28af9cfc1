import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { ok } from '../../domain/kernel/result.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { ToolsOffered } from '../../ports/agent/run-tools.ts'
import type { Tool } from './tool.ts'

const LARGEST = 200_000

const workInput = z.object({
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
export const handOverTool = ({ to, ask }: NonNullable<ToolsOffered['handOver']>): Tool<typeof workInput> => ({
  name: 'handoff',
  title: 'Hand the work over',
  description: [
    `Hands this work to another agent, who continues it in your place: ${to.join(', ') || 'name the agent'}.`,
    'Use it when the next part of the work is for that agent. Finish what you are in the middle of first: your own part ends with this call.',
  ].join(' '),
  input: workInput,
  isReadOnly: false,
  call: async ({ to: target, reason, document }) => {
    const handedTo = await ask(defined({ to: target, reason, document }))
    if (!handedTo.ok) return handedTo
    return ok({
      text: `The work goes to ${inQuotes(handedTo.value.to)}. Your part is done: say nothing more and use no tool.`,
    })
  },
})

const pieceInput = z.object({
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
export const delegateTool = ({ to, ask }: NonNullable<ToolsOffered['delegate']>): Tool<typeof pieceInput> => ({
  name: 'delegate',
  title: 'Delegate a piece of the work',
  description: [
    `Lets another agent do a piece of your work at the same time as you, in a thread of its own: ${to.join(', ')}.`,
    'You keep the work. Call it once for each piece, then continue, or end your turn: you are told the outcomes of all threads once your turn has ended.',
  ].join(' '),
  input: pieceInput,
  isReadOnly: false,
  call: async ({ to: target, task, reason, document }) => {
    const delegatedTo = await ask({ to: target, task, ...defined({ reason, document }) })
    if (!delegatedTo.ok) return delegatedTo
    return ok({
      text: `${inQuotes(delegatedTo.value.to)} begins with it now. End your turn when you need the outcome: you are told then, and need not ask.`,
    })
  },
})
