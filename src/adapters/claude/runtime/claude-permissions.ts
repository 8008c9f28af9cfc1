import { isAbsolute, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RefusedCall } from '../../../domain/run/refused-tools.ts'
import { argumentIn } from '../../../domain/turn/tool-argument.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { resultIn } from '../readers/claude-result.ts'

/** The tools that change files. */
const EDITS: ReadonlySet<string> = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])

/** A refused command counts as a write: the ones that only read are not asked about. */
const WRITES: ReadonlySet<string> = new Set([...EDITS, 'Bash', 'PowerShell'])

/** Questions to a person. No mode answers them. */
const QUESTIONS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode'])

const init = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  cwd: z.string().optional().catch(undefined),
  permissionMode: z.string().optional().catch(undefined),
})

const denied = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('permission_denied'),
  tool_name: z.string(),
  tool_use_id: z.string(),
})

const toolUse = z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() })
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish().catch(true),
})

const spoken = z.looseObject({
  type: z.enum(['assistant', 'user']),
  message: z.looseObject({ content: z.array(z.unknown()) }),
})

type Noted = Pick<RuntimeStep<never>, 'refused' | 'writes'>

interface Call {
  readonly name: string
  readonly input: unknown
}

/** Notes which tool calls of one launch were refused, and which edits were done, those of subagents included. */
export class ClaudePermissions {
  readonly #open = new Map<string, Call>()
  readonly #told = new Set<string>()
  #mode = 'default'
  #folder: string | undefined

  /** The refused calls and the edits that a message tells of. Each refusal is told once. */
  take(message: unknown): Noted {
    const begun = init.safeParse(message)
    if (begun.success) {
      this.#mode = begun.data.permissionMode ?? this.#mode
      this.#folder = begun.data.cwd ?? this.#folder
      return {}
    }
    const refusal = denied.safeParse(message)
    if (refusal.success) {
      const { tool_name: name, tool_use_id: id } = refusal.data
      return this.#refused([{ id, name, input: this.#open.get(id)?.input }])
    }
    const result = resultIn(message)
    // The last word: it also names what was refused without a message of its own.
    if (result !== undefined)
      return this.#refused(
        result.permission_denials.map(({ tool_use_id: id, tool_name: name, tool_input: input }) => ({
          id,
          name,
          input,
        })),
      )
    return this.#follow(message)
  }

  #follow(message: unknown): Noted {
    const parsed = spoken.safeParse(message)
    let writes = 0
    for (const part of parsed.success ? parsed.data.message.content : []) {
      const use = toolUse.safeParse(part)
      if (use.success) this.#open.set(use.data.id, use.data)
      const result = toolResult.safeParse(part)
      if (!result.success) continue
      const { tool_use_id: id, is_error: isError } = result.data
      if (EDITS.has(this.#open.get(id)?.name ?? '') && isError !== true) writes += 1
      this.#open.delete(id)
    }
    return writes === 0 ? {} : { writes }
  }

  #refused(calls: readonly (Call & { readonly id: string })[]): Noted {
    const fresh = calls.filter(({ id }) => !this.#told.has(id))
    for (const { id } of fresh) this.#told.add(id)
    return fresh.length === 0 ? {} : { refused: fresh.map((call) => this.#described(call)) }
  }

  #described({ name: toolName, input }: Call): RefusedCall {
    const allowedBy = QUESTIONS.has(toolName) ? undefined : this.#allowing(toolName, input)
    return defined({ toolName, argument: argumentIn(input), isWrite: WRITES.has(toolName), allowedBy })
  }

  /** Edits in the working folder have a mode of their own; nothing but everything allows the rest. */
  #allowing(toolName: string, input: unknown): string {
    const isEnough = EDITS.has(toolName) && this.#mode !== 'acceptEdits' && this.#isInFolder(input)
    return isEnough ? 'acceptEdits' : 'bypassPermissions'
  }

  #isInFolder(input: unknown): boolean {
    const { file_path: file, notebook_path: notebook } = (input ?? {}) as Readonly<Record<string, unknown>>
    const path = file ?? notebook
    if (typeof path !== 'string' || this.#folder === undefined) return true
    const way = relative(this.#folder, resolve(this.#folder, path))
    return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  }
}
